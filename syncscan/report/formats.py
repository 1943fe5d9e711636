"""The formats of a report, by name: each is a module of its own, imported when it is used."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from syncscan.system.files import replace_file

if TYPE_CHECKING:
    from syncscan.report.records import Report

FORMATS = {
    "text": "text",
    "concise": "concise",
    "json": "json_report",
    "github": "github",
    "sarif": "sarif",
    "gitlab": "gitlab",
    "junit": "junit",
    "html": "html.of_check",
}


def render(name: str, report: Report, stream: TextIO) -> None:
    """Write a report in a format."""
    importlib.import_module(f"syncscan.report.{FORMATS[name]}").render(report, stream)


def write(name: str, report: Report, file: Path) -> None:
    """Write a report to a file, whole or not at all; OSError where that fails."""
    write_whole(lambda stream: render(name, report, stream), file)


def write_whole(render: Callable[[TextIO], None], file: Path) -> None:
    """Write what a renderer gives to a file, whole or not at all; OSError where that fails."""
    stream = io.StringIO()
    render(stream)
    replace_file(file, stream.getvalue().encode("utf-8", "backslashreplace").decode())
