"""Fills the tables of transfer functions by type of node."""

from syncscan.check.prove import attributes, expressions, functions, statements

__all__ = ["attributes", "expressions", "functions", "statements"]
