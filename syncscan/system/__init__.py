"""What syncscan asks of the operating system: files, memory, processes, git."""
