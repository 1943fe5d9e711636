"""Runs a command as it is and records the lines that blocked the CPU until the GPU had finished."""
