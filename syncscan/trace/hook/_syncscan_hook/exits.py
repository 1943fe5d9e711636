"""Flushes before a process goes without running its exit handlers: ``os._exit``, ``os.execv``, ``os.execve``."""

from __future__ import annotations

import os
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def flush_before_exits(flush: Callable[[], None]) -> None:
    """Put a stand-in for each of these functions, where the program did not put one of its own."""
    for name in ("_exit", "execv", "execve"):
        function = getattr(posix, name)
        if getattr(os, name) is function:
            stand_in = FlushFirst(function, flush)
            setattr(posix, name, stand_in)
            setattr(os, name, stand_in)


class FlushFirst:
    """A built-in function that flushes first, and is the function itself in all that a program asks of it.

    To call an instance, the interpreter reads ``__call__``: that is where we flush, and what it calls is the
    function. So none of our frames is in a traceback, and in a class the function stays unbound.
    """

    __slots__ = ("__weakref__", "_flush", "_function")

    def __init__(self, function: Any, flush: Callable[[], None]) -> None:
        self._function = function
        self._flush = flush

    @property
    def __call__(self) -> Any:
        object.__getattribute__(self, "_flush")()
        return object.__getattribute__(self, "_function")

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_function"), name)

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "_function"))

    def __eq__(self, other: object) -> bool:
        return other is self or bool(other == object.__getattribute__(self, "_function"))

    def __hash__(self) -> int:
        return hash(object.__getattribute__(self, "_function"))
