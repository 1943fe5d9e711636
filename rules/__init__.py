"""The rule book: one rule a module, found by discovery, and the measured operation table."""
