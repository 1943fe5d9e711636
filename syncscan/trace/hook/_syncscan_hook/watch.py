"""Begins to watch what the options name: the calls of functions, the lines that run."""

from __future__ import annotations

import os
import sys

from . import lines
from .calls import watch_calls
from .lines import INSTALLED
from .places import Places
from .seen import SeenCalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .interfaces import Note, Watch

_SIMULATION = "_syncscan_simulate.marks"


def watches(torch: Any, options: dict[str, str], note: Note, flush: Callable[[], None]) -> list[Watch]:
    """Return what the options want to be watched, which is watched from now on; ``flush`` writes what was seen."""
    found: list[Watch] = []
    if options.get("observe"):
        places = Places(torch)
        places.simulated = sys.modules.get(_SIMULATION)
        seen = SeenCalls(places, _project(options["observe"], options.get("packages", "").split(",")), flush)
        found.append(seen)
        watch_calls(seen, note)
    if options.get("lines"):
        found += _lines(options, note)
    return found


def _project(folder: str, packages: list[str]) -> Callable[[str, str], bool]:
    """Return a test whether a function, by its file and its module, is of the project or of a package."""
    inside, ours = (os.path.join(path, "") for path in (folder, _folder_of(__file__)))

    def is_watched(path: str, module: str) -> bool:
        if module.partition(".")[0] in packages:
            return True
        if path.startswith(("<", ours)):
            return False
        path = os.path.abspath(path)
        return path.startswith(inside) and not any(part in path for part in INSTALLED)

    return is_watched


def _lines(options: dict[str, str], note: Note) -> list[Watch]:
    found = lines.begin(options)
    if not found:
        old = not hasattr(sys, "monitoring")
        option = "--calls" if options.get("calls") else "--lines"
        note(
            f"{option}: "
            + ("needs Python 3.12 or newer" if old else "other tools hold all of sys.monitoring")
        )
    return found


def _folder_of(file: str) -> str:
    return os.path.dirname(os.path.abspath(file))
