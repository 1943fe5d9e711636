"""Watches calls: by ``sys.monitoring`` from Python 3.12 on, before that by ``sys.setprofile``."""

from __future__ import annotations

import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .interfaces import Note
    from .seen import SeenCalls

_IDS = (3, 4, 2, 1, 0, 5)  # of tools; the first two are named after nobody
MOST_QUIET = (
    2_000_000  # events of a profiler in a row that say nothing new, after which there is none any more
)
_RETURN_VALUE = 83  # the instruction, before Python 3.12


def watch_calls(seen: SeenCalls, note: Note) -> None:
    """Let ``seen`` know of every call from now on, until it says nothing new."""
    if hasattr(sys, "monitoring"):
        _monitor(seen, note)
    else:
        _profile(seen, note)


def claim(name: str) -> int | None:
    """Return a number for a tool that no other tool has."""
    monitoring = sys.monitoring  # type: ignore[attr-defined]  # Python 3.12
    for number in _IDS:
        if monitoring.get_tool(number) is None:
            monitoring.use_tool_id(number, name)
            return number
    return None


def _monitor(seen: SeenCalls, note: Note) -> None:
    tool = claim("syncscan observe")
    if tool is None:
        note("observes nothing: other tools hold all of sys.monitoring")
        return
    monitoring = sys.monitoring  # type: ignore[attr-defined]  # Python 3.12
    started, returned, disable = monitoring.events.PY_START, monitoring.events.PY_RETURN, monitoring.DISABLE
    functions = seen.functions

    def on_start(code: CodeType, _offset: int) -> Any:
        frame = sys._getframe(1)
        try:
            function = functions[id(code)]
        except KeyError:
            function = seen.meet(code, str(frame.f_globals.get("__name__")))
            if function is not None and not function.is_generator:
                monitoring.set_local_events(tool, code, returned)
        if function is None or function.over:
            return disable
        try:
            seen.call(function, frame)
        except Exception:  # nothing of ours may reach the program
            return disable
        return None

    def on_return(code: CodeType, _offset: int, value: Any) -> Any:
        function = functions.get(id(code))
        if function is None or function.over:
            return disable
        try:
            seen.returned(function, value, sys._getframe(1))
        except Exception:
            return disable
        return None

    monitoring.register_callback(tool, started, on_start)
    monitoring.register_callback(tool, returned, on_return)
    seen.wake = monitoring.restart_events
    monitoring.set_events(tool, started)


def _profile(seen: SeenCalls, note: Note) -> None:
    if sys.getprofile() is not None:
        note("observes nothing: a profiler of the program holds sys.setprofile")
        return
    functions = seen.functions
    quiet, news = 0, 0  # events since something was new, and how much was by then

    def on_event(frame: FrameType, event: str, value: Any) -> None:
        nonlocal quiet, news
        quiet += 1
        if quiet > MOST_QUIET:
            if news == seen.news:
                threading.setprofile(None)
                sys.setprofile(None)
                return
            quiet, news = 0, seen.news
        if event == "call":
            code = frame.f_code
            try:
                function = functions[id(code)]
            except KeyError:
                function = seen.meet(code, str(frame.f_globals.get("__name__")))
                if function is not None and function.is_generator:  # a call and a return for each item
                    function = functions[id(code)] = None
            if function is not None and not function.over:
                _quietly(seen.call, function, frame)
        elif event == "return":
            function = functions.get(id(frame.f_code))
            if function is not None and not function.over and _returns(frame, value):
                _quietly(seen.returned, function, value, frame)

    threading.setprofile(on_event)
    sys.setprofile(on_event)


def _returns(frame: FrameType, value: Any) -> bool:
    """Return whether a function returns; the profiler reports None also where an exception ends the function."""
    return value is not None or frame.f_code.co_code[frame.f_lasti] == _RETURN_VALUE


def _quietly(function: Any, *arguments: Any) -> None:
    try:
        function(*arguments)
    except Exception:  # noqa: S110 (nothing of ours may reach the program)
        pass
