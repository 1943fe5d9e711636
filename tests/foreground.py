"""Commands that a test watches: how a shell starts one that a user waits for, and waiting for what it does."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def foreground() -> None:
    """For `preexec_fn`: a process group of its own, and what a background job ignores as it is by default.

    Whatever the tests themselves ignore.
    """
    os.setpgrp()  # `process_group` came with Python 3.11
    interruptible()


def interruptible() -> None:
    """Let what is started be interrupted, though the tests run where Ctrl-C is ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def wait_until(pid: int, condition: Callable[[], bool]) -> None:
    """Wait for a condition that a child brings about; AssertionError if it ends before it does."""
    while not condition():
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        assert ended is None, f"it ended: {ended}"
        os.sched_yield()
