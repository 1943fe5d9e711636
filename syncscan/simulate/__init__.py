"""CUDA programs on a machine without a GPU: CPU tensors that claim to be on CUDA.

Every module but `context` and `export` runs inside the traced program: those import the standard library, torch and
each other, never the rest of syncscan, and run on every Python that torch 2.4 runs on. The operation
table reaches them as plain data (see `rules`).
"""
