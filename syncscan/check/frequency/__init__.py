"""The execution frequency of functions and lines: in every step, once, in tests, or unknown."""
