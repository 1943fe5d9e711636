"""Starts a thread of which the program sees nothing: `threading` does not list it, and it takes no signal."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` wraps it in Python, for which the stack may have no room
import _thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Join = Callable[[float], Any]


def start_thread(function: Callable[[], None]) -> Join:
    """Run ``function()`` in a thread; returns ``join(timeout)``, which returns when the thread is gone.

    A thread that is still there when the interpreter goes is ended by force, which can abort the process.
    """
    # A signal that the program blocks for `sigwait` must not find a thread that accepts the signal.
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    try:
        if hasattr(_thread, "start_joinable_thread"):  # Python 3.13
            join: Join = _thread.start_joinable_thread(function, daemon=True).join
            return join
        return _start_with_lock(function)
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


def _start_with_lock(function: Callable[[], None]) -> Join:
    begun = _thread.allocate_lock()
    begun.acquire()
    gone: list[Any] = []

    def run() -> None:
        gone.append(_thread._set_sentinel())  # type: ignore[attr-defined] # the interpreter frees it, last of all
        gone[0].acquire()
        begun.release()
        function()

    def join(timeout: float) -> None:
        if begun.acquire(timeout=timeout):
            gone[0].acquire(timeout=timeout)

    _thread.start_new_thread(run, ())
    return join
