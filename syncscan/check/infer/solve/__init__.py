"""The fixed point: the worklist, incremental analysis, what is recorded for rules, and provenance."""
