"""The terminal, as the text renderers use it."""

from __future__ import annotations

from rich.console import Console as RichConsole


class Console(RichConsole):
    """A console that raises BrokenPipeError where its reader has left; rich would exit with status 1."""

    def on_broken_pipe(self) -> None:
        """Leave the end of the program, and its exit status, to who called us."""
        raise BrokenPipeError
