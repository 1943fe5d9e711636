"""How a run of syncscan ends: one line for what went wrong, and the exit status."""

from __future__ import annotations

import io
import os
import sys
import traceback

import click

from syncscan.errors import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_UNREAD, SyncscanError
from syncscan.report.safe_text import safe_line

_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())  # a group called alone, from click 8.2 on


def open_standard_streams() -> None:
    """Open the null device for each closed standard stream, so that no other file takes its number.

    The commands that we start do not inherit it: there the stream is closed. An unbuffered output gets a buffer, since
    Python notices no reader that leaves during a single write without one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: PTH123, SIM115 (a file that stays open)
            setattr(sys, name, stream)
    given = sys.stdout
    if isinstance(getattr(given, "buffer", None), io.RawIOBase):
        sys.stdout = open(  # noqa: SIM115 (it stays open)
            given.fileno(), "w", 1, encoding=given.encoding, errors=given.errors, closefd=False
        )


def flush_standard_streams() -> None:
    """Flush the standard streams; ignore a failure, after which Python would end with status 120."""
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, io.StringIO())


def tell(error: BaseException) -> int:
    """Print an error in one line, a defect of ours with its traceback; returns the exit status.

    Nothing is raised where stderr is full or its reader has left.
    """
    try:
        return _tell(error)
    except OSError:
        return EXIT_ERROR
    finally:
        flush_standard_streams()


def _tell(error: BaseException) -> int:
    if isinstance(error, SyncscanError):
        _say(str(error))
        return error.exit_status
    if isinstance(error, click.ClickException):
        if isinstance(error, _HELP):
            error.show()
        else:
            _say(f"{error.format_message().rstrip('.')}{_where_to_look(error)}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return EXIT_UNREAD
    if isinstance(error, OSError):
        _say(_reason(error))
        return EXIT_ERROR
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        _say("interrupted")
        return EXIT_INTERRUPTED
    # Status 1, which Python would choose, means findings.
    lines = traceback.format_exception(error, limit=-12)  # an endless recursion has thousands of lines
    click.echo("".join(lines), nl=False, err=True)
    _say("this is a defect of syncscan; please report it with the lines above")
    return EXIT_ERROR


def _say(line: str) -> None:
    click.echo(f"syncscan: {safe_line(line)}", err=True)


def _where_to_look(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"; see `{context.command_path} --help`" if context is not None else ""


def _reason(error: OSError) -> str:
    """Return the system's error and its file; an error without a file is about the output: the disk may be full."""
    name = "the output" if error.filename is None else error.filename
    return f"{name}: {(error.strerror or str(error)).lower()}"
