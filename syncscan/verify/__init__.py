"""Fixes of a project, tried: applied in a scratch copy, where a command runs before and after them."""
