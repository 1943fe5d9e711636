"""The file that a process writes for the trace; like `start`, with built-in modules only."""

import os
import sys
import time


class TraceFile:
    """The file of one process: what is written into it comes from `output`."""

    def __init__(self, folder: str) -> None:
        started = time.time_ns()
        self.path = os.path.join(folder, f"{os.getpid()}-{started}.jsonl")
        argv = getattr(sys, "orig_argv", None) or [sys.executable or "python"]
        header = '{"syncscan_process": 1, "pid": %d, "ppid": %d, "started_ns": %d, "argv": "%s"}\n'
        hexadecimal = os.fsencode("\0".join(argv)).hex()
        self.header = (header % (os.getpid(), os.getppid(), started, hexadecimal)).encode()
        self.created = False

    def create(self) -> None:
        """Create the file, where that is possible now. Only for a process with one thread: see `append`."""
        try:
            with open(self.path, "xb", buffering=0) as file:
                self.created = file.write(self.header) == len(self.header)
        except OSError:  # the disk is full, the trace is over, ...
            pass
