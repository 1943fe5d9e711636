"""Findings and events to text, JSON and the rest; one format a module."""
