"""The fixed point: the worklist, incremental analysis, the record for rules, and provenance."""
