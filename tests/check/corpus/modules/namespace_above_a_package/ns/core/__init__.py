"""A package in a folder that is one of names alone."""
