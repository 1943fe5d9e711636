"""Findings, verdicts and the knowledge of an engine as plain data."""
