"""How a shell starts the command that a user waits for, whatever the tests themselves ignore."""

from __future__ import annotations

import os
import signal


def foreground() -> None:
    """For `preexec_fn`: a process group of its own, and what a background job ignores as it is by default."""
    os.setpgrp()  # `process_group` came with Python 3.11
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
