"""The part of the measured operation table: which calls block, and what they return."""
