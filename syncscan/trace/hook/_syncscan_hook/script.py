"""Follows the top level of the script line by line, for nothing else shows when the script has defined a function."""

from __future__ import annotations

import sys

from .calls import claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any


def before_each_line(module: Any, name: str, look: Callable[[], bool]) -> None:
    """Call ``look()`` before each further line of the top level of a module that runs on this thread, until it is true.

    Does nothing where the top level never speaks of ``name``, or where tools of the program leave no way to do it.
    """
    frame = _top_level(module)
    if frame is None or name not in frame.f_code.co_names:
        return
    if hasattr(sys, "monitoring"):
        _monitor(frame.f_code, look)
    elif sys.gettrace() is None:
        _trace(frame, look)


def _top_level(module: Any) -> FrameType | None:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(module) and frame.f_code.co_name == "<module>":
            break
        frame = frame.f_back
    return frame


def _monitor(code: CodeType, look: Callable[[], bool]) -> None:
    tool = claim("syncscan step")
    if tool is None:
        return
    monitoring = sys.monitoring  # type: ignore[attr-defined]  # Python 3.12

    def on_line(code: CodeType, _line: int) -> None:
        if look():
            monitoring.set_local_events(tool, code, monitoring.events.NO_EVENTS)
            monitoring.register_callback(tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(tool)

    monitoring.register_callback(tool, monitoring.events.LINE, on_line)
    monitoring.set_local_events(tool, code, monitoring.events.LINE)


def _trace(frame: FrameType, look: Callable[[], bool]) -> None:
    def on_event(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and look():
            frame.f_trace = None
            if sys.gettrace() is of_others:
                sys.settrace(None)
        return on_event

    def of_others(_frame: FrameType, _event: str, _argument: Any) -> None:
        return None

    frame.f_trace = on_event
    sys.settrace(of_others)
