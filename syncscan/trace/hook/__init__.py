"""The folder that goes first on the PYTHONPATH of a traced command."""
