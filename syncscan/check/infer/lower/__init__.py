"""Lowering from syntax trees to instructions: once for each function, without any abstract value."""
