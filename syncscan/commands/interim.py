"""Views and reports of a trace while the command runs: a view that is drawn again, and a report before the end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TextIO

from rich.live import Live
from rich.text import Text

from syncscan.commands.exit_handling import tell
from syncscan.commands.trace_options import TERMINAL
from syncscan.report import trace_text
from syncscan.report.console import Console
from syncscan.trace.launch import Launched
from syncscan.trace.merge import Trace

FLUSHED_SECONDS = 1.5  # after an event, until every process has written the event
SHUTDOWN_SECONDS = 2.0  # an interrupted command that ends within this time gets one report
_REDRAW_SECONDS = 1.0
_AT_MOST = 4  # pause between views, in multiples of the time that a view takes


class Interim:
    """Makes views and reports in processes of their own, so that the trace goes on passing signals.

    ``make`` gives the trace so far, and ``report`` shows it. At ``report_at`` (of the monotonic clock) it is shown;
    ``live`` draws the trace each second on the terminal. With either, the trace is also shown if the command still runs two
    seconds after an interrupt.
    """

    def __init__(
        self,
        make: Callable[[Launched], Trace],
        report: Callable[[Trace], None],
        *,
        live: bool,
        report_at: float | None,
    ) -> None:
        self.reported = False  # of a part of the run that is over
        self._make = make
        self._report = report
        self._live = live
        self._report_at = report_at
        self._ends = inf if report_at is None else report_at
        self._viewer: int | None = None
        self._reporters: list[int] = []

    def look(self, launched: Launched) -> None:
        """Begin the due work."""
        if self._live and self._viewer is None:
            self._viewer = _in_child(lambda: self._view(launched))
        if self._report_at is not None and time.monotonic() >= self._report_at:
            self.reported = time.monotonic() >= self._ends
            self._report_at = None
            self._stop_view()
            self._reporters.append(_in_child(lambda: self._report(self._make(launched))))
        self._reporters = [pid for pid in self._reporters if not os.waitpid(pid, os.WNOHANG)[0]]

    def signalled(self, number: int) -> None:
        """Leave the terminal to a command that received a signal to end; a report may be due."""
        if number in (signal.SIGINT, signal.SIGTERM):
            self._stop_view()
            if not self.reported:
                soon = time.monotonic() + SHUTDOWN_SECONDS
                self._report_at = min(soon, self._report_at or soon)

    def end(self) -> None:
        """End views now and reports as soon as they are written, because the command has ended."""
        self._stop_view()
        for pid in self._reporters:
            os.waitpid(pid, 0)

    def _stop_view(self) -> None:
        self._live = False
        if self._viewer is not None:
            os.kill(self._viewer, signal.SIGTERM)
            os.waitpid(self._viewer, 0)
            self._viewer = None

    def _view(self, launched: Launched) -> None:
        with TERMINAL.open("w", encoding="utf-8") as terminal:
            show_live(lambda: self._make(launched), terminal)


def show_live(make: Callable[[], Trace], terminal: TextIO) -> None:
    """Draw a trace on a terminal until SIGTERM, and then clear the drawing."""
    console = Console(file=terminal, highlight=False)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    trace_of = os.getppid()
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
        while os.getppid() == trace_of:
            began = time.monotonic()
            live.update(_first_lines(make() | {"command": []}, console), refresh=True)
            pause = max(_REDRAW_SECONDS, _AT_MOST * (time.monotonic() - began))
            if signal.sigtimedwait({signal.SIGTERM}, pause) is not None:
                break


def _first_lines(trace: Trace, console: Console) -> Text:
    lines = list(trace_text.lines(trace, console.width, Path.cwd()))[: console.height - 1]
    for line in lines:
        line.truncate(console.width, overflow="ellipsis")
    return Text("\n").join(lines)


def _in_child(work: Callable[[], None]) -> int:
    """Run work in a fork that keeps open only the standard descriptors; return its pid."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        sys.stdout.flush()
        sys.stderr.flush()
        status = 0
    except BaseException as error:
        tell(error)
    finally:
        os._exit(status)
