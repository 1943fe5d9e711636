"""CUDA programs on a machine without a GPU: CPU tensors that claim to be on CUDA.

`inside/` runs inside the program. `context` starts the simulation for a block of a program that has syncscan
installed. `export` prepares the simulation for a traced program that has not.
"""
