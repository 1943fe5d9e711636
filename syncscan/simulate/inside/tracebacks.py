"""Hides the frames of the simulation from what a program sees of its errors."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from torch._ops import OpOverload
from torch.overrides import handle_torch_function

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_FOLDER = str(Path(__file__).parent) + os.sep
_LIBRARY = str(Path(os.__file__).parent) + os.sep
_hidden = [_FOLDER]  # files of these folders, and these files
_CALLS_AGAIN = handle_torch_function.__code__
_CALLS_KERNEL: Any = OpOverload.__call__.__code__
Value = TypeVar("Value")
_DEFECTS = (AssertionError, AttributeError, KeyError, NameError)  # where the simulation itself raises them


def without_our_frames(value: Value, original: Any = None) -> Value:
    """Return a function whose errors have a traceback without the frames of the simulation; return other values unchanged.

    Arguments that do not fit go to the ``original`` function, so that torch raises its own error. The modes and `Method` call `hide` themselves, to put no frame more under each call of torch.
    """
    if isinstance(value, (staticmethod, classmethod)):
        return cast("Value", type(value)(without_our_frames(value.__func__)))
    if not isinstance(value, (FunctionType, MethodType)):
        return value

    @functools.wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        run: Any = value
        while True:
            try:
                return run(*args, **kwargs)
            except BaseException as error:
                if run is value and callable(original) and does_not_fit(error):
                    run = original
                    continue
                try:
                    hide(error)
                except RecursionError:  # no room for it: no other frame than ours lies below
                    error.__traceback__ = None
                raise

    return cast("Value", call)


def does_not_fit(error: BaseException) -> bool:
    """Return whether a call in the frame that caught the error failed since its arguments do not fit the function."""
    entry = error.__traceback__
    return isinstance(error, TypeError) and entry is not None and entry.tb_next is None


def hide(error: BaseException) -> None:
    """Take the frames of the simulation out of a traceback; a bare ``raise`` must follow, which adds none.

    Before Python 3.11 such a ``raise`` keeps the frame that it is in. At the limit of the recursion there is no room
    for this call, so each caller catches RecursionError itself.
    """
    entry = error.__traceback__
    kept, ours = [], False
    while entry is not None:
        ours = is_ours(entry.tb_frame) or (ours and _is_of_library(entry.tb_frame))
        if not ours:
            kept.append(entry)
        last, entry = entry, entry.tb_next
    if error.__traceback__ is None or (isinstance(error, _DEFECTS) and is_ours(last.tb_frame)):
        return
    for before, after in zip([error.__traceback__, *kept], [*kept, None]):
        before.tb_next = after
    error.__traceback__ = kept[0] if kept else None


def hide_files(path: str) -> None:
    """Hide the frames of one of our listeners too. ``path`` is a file, or a folder with a separator at its end."""
    if path not in _hidden:
        _hidden.append(path)


def program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames from one outward that there are without a simulation."""
    while frame is not None:
        if frame.f_code is _CALLS_AGAIN:
            frame = frame.f_back  # the function that it calls once more
        elif not is_ours(frame):
            yield frame
        frame = frame and frame.f_back


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame is of the simulation."""
    if frame.f_code is _CALLS_KERNEL and frame.f_back is not None:  # for `Kernels`
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(tuple(_hidden))


def _is_of_library(frame: FrameType) -> bool:
    """Return whether a frame is of the standard library."""
    path = frame.f_code.co_filename
    return path.startswith("<frozen ") or (path.startswith(_LIBRARY) and "-packages" not in path)
