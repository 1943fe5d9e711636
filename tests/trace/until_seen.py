"""A program that lives until the launcher of the trace that it is in has looked at all processes while it did.

The launcher sleeps between two looks, and Linux counts how often a process went to sleep.
"""

from __future__ import annotations

import os
from pathlib import Path


def launcher() -> int:
    """The nearest ancestor that runs ``syncscan trace``, or that ``tests.warm`` forked to do so."""
    pid = os.getpid()
    while not is_launcher(set(Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"))):
        pid = int(field(pid, "PPid"))
    return pid


def is_launcher(words: set[bytes]) -> bool:
    return {b"syncscan", b"trace"} <= words or b"tests.warm" in words


def field(pid: int, name: str) -> str:
    """What Linux says of a process."""
    return Path(f"/proc/{pid}/status").read_text().partition(f"\n{name}:")[2].split()[0]


def sleeps(pid: int) -> int:
    """How often a process went to sleep."""
    return int(field(pid, "voluntary_ctxt_switches"))


if __name__ == "__main__":
    watching = launcher()
    enough = sleeps(watching) + 3  # it may be in the midst of a look
    while sleeps(watching) < enough:
        os.sched_yield()
