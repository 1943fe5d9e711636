"""Progress for an editor while a project is read, which takes a minute for a large one."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import TimeoutError as NoAnswerError

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

PATIENCE = 1.0  # seconds before work is long
_EACH = 0.2  # seconds between two reports
_ANSWER = 5.0  # seconds within which an editor answers

_numbers = itertools.count()


class EditorProgress:
    """The progress of long work, shown in an editor that supports progress."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        window = server.client_capabilities.window
        self._shows = bool(window and window.work_done_progress)
        self._next = time.monotonic() + PATIENCE
        self._token = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of a stage are done."""
        if not self._shows or time.monotonic() < self._next:
            return
        if not self._token and not self._begin():
            return
        self._next = time.monotonic() + _EACH
        percentage = min(100, 100 * done // max(1, total))
        report = types.WorkDoneProgressReport(message=f"{stage} {percentage}%", percentage=percentage)
        self._server.work_done_progress.report(self._token, report)

    def _begin(self) -> bool:
        token = f"syncscan-{next(_numbers)}"
        try:
            self._server.work_done_progress.create(token).result(_ANSWER)
        except (JsonRpcException, NoAnswerError):  # an editor that does not answer as announced
            self._shows = False
            return False
        self._token = token
        begin = types.WorkDoneProgressBegin("syncscan reads the project", percentage=0)
        self._server.work_done_progress.begin(token, begin)
        return True

    def end(self) -> None:
        """Report that the work is done, where anything was reported."""
        if self._token:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
