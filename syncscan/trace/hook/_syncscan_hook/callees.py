"""The functions that each call ran: the names that a call had, and which code ran for which other code."""

from __future__ import annotations

import sys
from types import FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

# Calls of one place, or of one code, in a row that say nothing new; then no more are recorded, and CLOSED says so.
_MOST_QUIET = 300
CLOSED = "*"


class CalleeWatch:
    """The calls that ran in this process."""

    def __init__(self, watches: Callable[[str], bool]) -> None:
        self._watches = watches
        self._watched: dict[str, bool] = {}
        # By the place of a call, what was called, and how often nothing new.
        self._called: dict[tuple[CodeType, int], dict[Any, int]] = {}
        self._named: dict[tuple[CodeType, int, str], None] = {}  # and the names of the function called
        # By what ran, and the place in the nearest watched code below it on the stack, if any.
        self._ran: dict[tuple[CodeType, CodeType | None, int], None] = {}
        self._told = [0, 0]

    def begin(self, tool: int) -> int:
        """Watch every call from now on; return the events that are asked for."""
        monitoring = sys.monitoring  # type: ignore[attr-defined]  # Python 3.12
        watched, called, named, ran = self._watched, self._called, self._named, self._ran
        disable = monitoring.DISABLE
        quiet: dict[CodeType, int] = {}  # how often each ran and that said nothing new
        is_watched, frame_at = self._is_watched, sys._getframe

        def on_call(code: CodeType, offset: int, function: Any, _first: Any) -> Any:
            try:
                name = code.co_filename
                if not (watched[name] if name in watched else is_watched(name)):
                    return disable
                place = (code, offset)
                known = called.get(place)
                if known is None:
                    known = called[place] = {"": 0}
                key = _key_of(function)
                if key not in known:
                    known[key] = known[""] = 0
                    named[code, offset, _name_of(function)] = None
                known[""] += 1
                if known[""] > _MOST_QUIET:
                    named[code, offset, CLOSED] = None
                    return disable
            except Exception:  # nothing of ours may reach the program
                named[code, offset, CLOSED] = None
                return disable
            return None

        def on_start(code: CodeType, _offset: int) -> Any:
            name = code.co_filename
            if not (watched[name] if name in watched else is_watched(name)):
                return disable
            frame = frame_at(1).f_back
            while frame is not None:
                name = frame.f_code.co_filename
                if watched[name] if name in watched else is_watched(name):
                    break
                frame = frame.f_back
            found = (code, None, 0) if frame is None else (code, frame.f_code, frame.f_lasti)
            if found not in ran:
                ran[found] = None
                quiet[code] = 0
            quiet[code] += 1
            if quiet[code] > _MOST_QUIET:
                ran[code, None, 1] = None
                return disable
            return None

        events = monitoring.events
        monitoring.register_callback(tool, events.CALL, on_call)
        for event in (events.PY_START, events.PY_RESUME):
            monitoring.register_callback(tool, event, on_start)
        wanted: int = events.CALL | events.PY_START | events.PY_RESUME
        return wanted

    def _is_watched(self, path: str) -> bool:
        found = self._watched[path] = self._watches(path)
        return found

    def changed(self, *, whole: bool) -> Iterator[tuple[str, Any]]:
        """Yield the calls since the last time, or all, by file."""
        if whole:
            self._told[:] = [0, 0]
        positions = _Positions()
        files: dict[str, list[list[Any]]] = {}
        for code, offset, name in self._since(0, self._named):
            first, last, column, end = positions.at(code, offset)
            if None not in (first, last, column, end):
                files.setdefault(code.co_filename, []).append([first, column, last, end, [name]])
        for path, rows in files.items():
            yield "callees", [path, rows]
        files = {}
        for code, caller, offset in self._since(1, self._ran):
            row: list[Any] = [code.co_firstlineno, CLOSED if offset else "", 0, 0]
            if caller is not None:
                line = positions.at(caller, offset)[0] or 0
                row = [code.co_firstlineno, caller.co_filename, caller.co_firstlineno, line]
            files.setdefault(code.co_filename, []).append(row)
        for path, rows in files.items():
            yield "callers", [path, rows]

    def _since(self, kind: int, records: dict[Any, None]) -> list[Any]:
        told, self._told[kind] = self._told[kind], len(records)
        return list(records)[told : self._told[kind]]

    def reset(self) -> None:
        """Go on in a forked child: the file of the parent has what was reported before the fork."""


class _Positions:
    """The positions of instructions in the source; those of a code object are read once."""

    def __init__(self) -> None:
        self._known: dict[CodeType, list[Any]] = {}

    def at(self, code: CodeType, offset: int) -> Any:
        """Return the line, the last line, the column and the last column of an instruction."""
        found = self._known.get(code)
        if found is None:
            found = self._known[code] = list(code.co_positions())
        return found[offset // 2]


def _key_of(function: Any) -> Any:
    """Return what stands for a function however often it is made anew."""
    kind = type(function)
    if kind is FunctionType:
        return function.__code__
    if kind is MethodType:
        return getattr(function.__func__, "__code__", None) or function.__func__
    if kind.__module__ == "builtins" or kind is type:  # functions, methods and classes of C
        return getattr(function, "__qualname__", kind)
    return function if isinstance(function, type) else kind


def _name_of(function: Any) -> str:
    """Return the full name of a function or class; of another object that of its ``__call__``."""
    kind = type(function)
    if isinstance(function, (FunctionType, MethodType, type)):
        return f"{function.__module__}.{function.__qualname__}"
    if kind.__module__ == "builtins":
        owner = getattr(function, "__objclass__", None)
        this = getattr(function, "__self__", None)
        module = getattr(owner, "__module__", None) or getattr(function, "__module__", None)
        return f"{module or type(this).__module__}.{getattr(function, '__qualname__', kind.__qualname__)}"
    return f"{kind.__module__}.{kind.__qualname__}.__call__"
