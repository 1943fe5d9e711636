"""Runs a command as it is and records which lines made the CPU wait for the GPU."""
