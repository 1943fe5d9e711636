"""The report of a failure of syncscan itself on a function or a file: one line, so that the rest is checked."""

from __future__ import annotations

import traceback
from pathlib import Path

from syncscan.check.infer.source.index import Function
from syncscan.check.nesting import is_too_deep
from syncscan.model import Failure


def failure_of(function: Function, error: Exception) -> Failure:
    """Return the reason why a function could not be analysed: its nesting, or a defect of syncscan and its place."""
    line = getattr(function.node, "lineno", 0)
    name = function.qualname
    if _is_due_to_nesting(function, error):
        message = f"`{name}` is nested too deeply to be analysed; the rest of the file was checked"
    else:
        message = f"`{name}` could not be analysed, the rest of the file was checked; {defect(error)}"
    return Failure(function.module.path, line, message, partial=True)


def reason_of(function: Function, error: Exception) -> str:
    """Return the reason for an error alone, for a message that names the function."""
    return "it is nested too deeply" if _is_due_to_nesting(function, error) else defect(error)


def _is_due_to_nesting(function: Function, error: Exception) -> bool:
    return isinstance(error, RecursionError) and is_too_deep(function.node)


def defect(error: Exception) -> str:
    """Return an error of our own in one line, with its place in our source."""
    (last,) = traceback.extract_tb(error.__traceback__, limit=-1)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"this is a defect of syncscan, please report it: {text} ({Path(last.filename).name}:{last.lineno})"
    )
