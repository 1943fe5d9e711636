"""The operating system as syncscan uses it: files, memory, processes, git."""
