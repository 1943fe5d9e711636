"""Attributes the warnings of torch to the lines of the program that they have without a simulation."""

from __future__ import annotations

import sys
import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.overrides import handle_torch_function

from .tracebacks import is_ours, program_frames

if TYPE_CHECKING:
    from types import FrameType

    from .patches import Patches

_WHERE_WARNED = (str(Path(__file__).parent), handle_torch_function.__code__.co_filename)


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
    frame: FrameType | None = sys._getframe(3)  # the caller of `show`, and of what `Patches` puts around it
    while frame is not None and not is_ours(frame):
        frame = frame.f_back
    levels = 0  # counted from the call of the simulation; each is a level of the program
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (
        message.filename,
        message.lineno,
    ):
        frame, levels = frame.f_back, levels + 1
    return next(islice(program_frames(frame), levels, None), None)
