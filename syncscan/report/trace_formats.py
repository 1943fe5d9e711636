"""The formats of a trace, by name: each is a module of its own, imported when it is used."""

from __future__ import annotations

import importlib
from typing import Any, TextIO

TRACE_FORMATS = {
    "text": "trace_text",
    "json": "trace_json",
    "jsonl": "trace_lines",
    "speedscope": "speedscope",
    "chrome": "chrome_trace",
    "html": "html.of_trace",
}


def render(name: str, trace: dict[str, Any], stream: TextIO, width: int) -> None:
    """Write a trace in a format; text is ``width`` characters wide."""
    module = importlib.import_module(f"syncscan.report.{TRACE_FORMATS[name]}")
    module.render(trace, stream, *((width,) if name == "text" else ()))
