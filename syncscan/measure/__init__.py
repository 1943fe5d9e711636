"""Measures what torch operations do to the host, and writes the operation table.

The flow is a line: cases (``cases.toml``, torch's op_db) -> `run` in child processes, behind a busy GPU
-> records (plain JSON) -> `derive` -> entries of the table -> `write`. Only `watch` touches the GPU's
clock; each step after the records is a pure function of them.
"""
