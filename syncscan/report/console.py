"""The terminal, as the text renderers use it."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console as RichConsole


class Console(RichConsole):
    """A console that raises BrokenPipeError where its reader has left; rich would exit with status 1."""

    def on_broken_pipe(self) -> None:
        """Leave the end of the program, and its exit status, to who called us."""
        raise BrokenPipeError


def console_for(stream: TextIO, color: bool | None) -> Console:
    """Return a console with colours or without them; with None the terminal and its variables decide."""
    if color is None:
        return Console(file=stream)
    return Console(file=stream, force_terminal=color, no_color=not color)
