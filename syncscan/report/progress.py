"""A progress bar on a terminal, for runs that last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds before a run is long


class ProgressBar:
    """Shows stages and their progress on a stream, if that is a terminal and the run is long."""

    def __init__(self, stream: TextIO, *, is_quiet: bool = False) -> None:
        self._stream = stream
        self._shows = stream.isatty() and not is_quiet
        self._start = time.monotonic()
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        if not self._shows or time.monotonic() - self._start < PATIENCE:
            return
        bar = self._bar or self._open()
        if stage not in self._tasks:
            self._tasks[stage] = bar.add_task(stage, total=total)
        bar.update(self._tasks[stage], completed=done, total=total)

    def _open(self) -> Progress:
        from rich.progress import Progress  # noqa: PLC0415

        from syncscan.report.console import Console  # noqa: PLC0415 (most runs are short)

        self._bar = Progress(console=Console(file=self._stream), transient=True)
        self._bar.start()
        return self._bar

    def stop(self) -> None:
        """Restore the terminal."""
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
