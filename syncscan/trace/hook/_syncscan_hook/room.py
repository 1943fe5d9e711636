"""Gives work of ours a stack, where the program has none left: a recursion near its limit, or a low limit."""

from __future__ import annotations

from .threads import start_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NEEDED = 40  # frames of Python, each called from C


def with_room(function: Callable[[], None], patience: float) -> None:
    """Call a function here, or on a thread of ours until its end; skip the call where no thread can start.

    A thread of ours starts with a stack of its own, and so with the whole limit.
    """
    try:
        if not _has_room():
            start_thread(function)(patience)
            return
    except (RecursionError, RuntimeError, MemoryError):  # no room for this either, or no more threads
        return
    function()


def _has_room() -> bool:
    try:
        _descend(_NEEDED)
    except RecursionError:
        return False
    return True


def _descend(frames: int) -> None:
    for _ in map(_descend, range(frames - 1, frames) if frames else ()):
        pass
