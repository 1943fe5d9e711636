"""CUDA programs on a machine without a GPU: CPU tensors that claim to be on CUDA.

`inside/` is what runs inside the program. `context` starts it for a block of a program that has syncscan installed;
`export` prepares it for a program that is traced and has not.
"""
