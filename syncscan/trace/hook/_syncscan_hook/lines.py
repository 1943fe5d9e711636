"""The lines that ran: each is seen once, and costs nothing from then on."""

from __future__ import annotations

import os
import sys

from .callees import CalleeWatch
from .calls import claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    from .interfaces import Watch

INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STANDARD, _HOOK = (os.path.dirname(os.path.abspath(file)) for file in (os.__file__, __file__))
_OURS = os.path.join(os.path.dirname(_HOOK), "")
_OTHERS = ("_syncscan_simulate", "torch")  # packages whose lines nobody asks for
_begun: list[Watch] = []


def begin(options: dict[str, str]) -> list[Watch]:
    """Return the watches of this process, which begin now if they have not; none where Python has none to give."""
    tool = claim("syncscan lines") if not _begun and hasattr(sys, "monitoring") else None
    if tool is not None:
        found: list[LineWatch | CalleeWatch] = [LineWatch(_is_watched)]
        found += [CalleeWatch(_is_watched)] if options.get("calls") else []
        events = 0
        for each in found:
            events |= each.begin(tool)
        _begun[:] = found
        sys.monitoring.set_events(tool, events)  # type: ignore[attr-defined]  # Python 3.12
    return _begun


def _is_watched(path: str) -> bool:
    if not path.endswith(".py") or path.startswith(_OURS) or _is_of_others(path):
        return False
    return not path.startswith(os.path.join(_STANDARD, "")) or any(part in path for part in INSTALLED)


def _is_of_others(path: str) -> bool:
    for name in _OTHERS:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and path.startswith(os.path.join(os.path.dirname(os.path.abspath(file)), "")):
            return True
    return False


class LineWatch:
    """The lines that ran in this process, by file."""

    def __init__(self, watches: Callable[[str], bool]) -> None:
        self._watches = watches
        self._files: dict[
            str, dict[int, None] | None
        ] = {}  # in the order in which they ran; None: not watched
        self._told: dict[str, int] = {}  # how many of them

    def begin(self, tool: int) -> int:
        """Watch every line from now on; return the events that are asked for."""
        monitoring = sys.monitoring  # type: ignore[attr-defined]  # Python 3.12
        files, disable, watches = self._files, monitoring.DISABLE, self._watches

        def on_line(code: CodeType, line: int) -> Any:
            try:
                ran = files[code.co_filename]
            except KeyError:
                ran = files[code.co_filename] = {} if watches(code.co_filename) else None
            if ran is not None:
                ran[line] = None
            return disable

        monitoring.register_callback(tool, monitoring.events.LINE, on_line)
        wanted: int = monitoring.events.LINE
        return wanted

    def changed(self, *, whole: bool) -> Iterator[tuple[str, Any]]:
        """Yield the lines that ran since the last time, or all, by file."""
        for path, ran in list(self._files.items()):
            told = 0 if whole else self._told.get(path, 0)
            if ran is not None and len(ran) > told:
                self._told[path] = len(ran)
                yield "lines", [path, sorted(list(ran)[told:])]

    def reset(self) -> None:
        """Go on in a forked child: the file of the parent has what was reported before the fork."""
