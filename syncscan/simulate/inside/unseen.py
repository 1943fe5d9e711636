"""Hides the frames of the simulation from what a program sees of its errors and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch._ops import OpOverload
from torch.overrides import handle_torch_function

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from .patches import Patches

_FOLDER = str(Path(__file__).parent) + os.sep
_LIBRARY = str(Path(os.__file__).parent) + os.sep
_hidden = [_FOLDER]  # files of these folders, and these files
_CALLS_AGAIN = handle_torch_function.__code__
_CALLS_KERNEL: Any = OpOverload.__call__.__code__
_WHERE_WARNED = (_FOLDER, _CALLS_AGAIN.co_filename)
_DEFECTS = (AssertionError, AttributeError, KeyError, NameError)  # where the simulation itself raises them


def hide(error: BaseException) -> None:
    """Take the frames of the simulation out of a traceback; a bare ``raise`` must follow, which adds none.

    Before Python 3.11 such a ``raise`` keeps the frame that it is in. Each caller catches the RecursionError of
    this call itself: a function that did so for all would put one more frame under each call of torch.
    """
    entry = error.__traceback__
    kept, ours = [], False
    while entry is not None:
        ours = _is_ours(entry.tb_frame) or (ours and _is_of_library(entry.tb_frame))
        if not ours:
            kept.append(entry)
        last, entry = entry, entry.tb_next
    if error.__traceback__ is None or (isinstance(error, _DEFECTS) and _is_ours(last.tb_frame)):
        return
    for before, after in zip([error.__traceback__, *kept], [*kept, None]):
        before.tb_next = after
    error.__traceback__ = kept[0] if kept else None


def hide_files(path: str) -> None:
    """Hide also the frames of a listener of ours: a file, or a folder with a separator at its end."""
    if path not in _hidden:
        _hidden.append(path)


def install(patches: Patches) -> None:
    """Attribute the warnings of torch to the lines that they have without a simulation."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{__package__}."):
            # The interpreter would show a text once for a line of ours, whichever line of the program it is about.
            patches.replace(module, "__warningregistry__", None)
    original = warnings._showwarnmsg  # type: ignore[attr-defined]  # private, so in no stub

    def show(message: Any) -> None:
        frame = _asking_frame(message) if message.filename.startswith(_WHERE_WARNED) else None
        if frame is None:
            original(message)
            return
        names = frame.f_globals
        warnings.warn_explicit(
            message.message,
            message.category,
            frame.f_code.co_filename,
            frame.f_lineno,
            names.get("__name__", "<string>"),
            names.setdefault("__warningregistry__", {}),
            source=message.source,
        )

    patches.replace(warnings, "_showwarnmsg", show)


def _asking_frame(message: Any) -> FrameType | None:
    """Return the frame for which a warning is meant, without those of the simulation."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not _is_ours(frame):
        frame = frame.f_back
    levels = 0  # counted from the call of the simulation; each is a level of the program
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (
        message.filename,
        message.lineno,
    ):
        frame, levels = frame.f_back, levels + 1
    return next(islice(_program(frame), levels, None), None)


def _program(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames from one outward that there are without a simulation."""
    while frame is not None:
        if frame.f_code is _CALLS_AGAIN:
            frame = frame.f_back  # the function that it calls once more
        elif not _is_ours(frame):
            yield frame
        frame = frame and frame.f_back


def _is_ours(frame: FrameType) -> bool:
    if frame.f_code is _CALLS_KERNEL and frame.f_back is not None:  # for `Kernels`
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(tuple(_hidden))


def _is_of_library(frame: FrameType) -> bool:
    """Return whether a frame is of the standard library."""
    path = frame.f_code.co_filename
    return path.startswith("<frozen ") or (path.startswith(_LIBRARY) and "-packages" not in path)
