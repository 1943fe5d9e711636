"""The code inside a traced process: the standard library only, and nothing before torch is imported."""
