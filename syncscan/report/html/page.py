"""The HTML file: template, style, script, and the data of a report."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, TextIO

from syncscan.report.address import rule_address
from syncscan.report.safe_text import safe_values
from syncscan.system.files import read_file

AROUND = 4  # lines of source before and after an expression
_MAX_SOURCE = 16 * 1024 * 1024
_TAB = "    "
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column; its type says how cells are shown: see ``show`` in page.js and the classes in page.css."""

    name: str
    type: str
    facet: bool = False  # whether its few values can be chosen from
    order: tuple[str, ...] = ()  # the order of the values; if empty, by value


@dataclass
class Page:
    """The data that the script draws. Rows are made by `make_row`. ``sort`` is the column by which they fall, or None."""

    title: str
    subtitle: str
    totals: list[dict[str, str]]
    columns: list[Column]
    sort: int | None
    rows: list[Row]
    remarks: list[str] = field(default_factory=list)
    sources: dict[str, dict[str, str]] = field(default_factory=dict)  # lines by path and number
    measures: list[dict[str, str]] = field(default_factory=list)  # of the flame graph
    frames: list[str] = field(default_factory=list)
    stacks: list[list[Any]] = field(default_factory=list)  # frames from the innermost on, weights, row
    timeline: list[dict[str, Any]] = field(default_factory=list)


def make_total(label: str, value: str, note: str = "") -> dict[str, str]:
    """Return a figure at the top of the page."""
    return {"label": label, "value": value, "note": note}


def make_row(
    cells: Sequence[Any],
    place: dict[str, Any],
    *,
    instead: str = "",
    heading: str = "suggestion",
    fix: dict[str, Any] | None = None,
    evidence: Iterable[str] = (),
    facts: Iterable[tuple[str, str]] = (),
    stacks: Iterable[tuple[str, list[int]]] = (),
) -> Row:
    """Return a row of the table; ``place`` has its path, range, function and expression."""
    names = ("path", "line", "column", "end_line", "end_column", "function", "expression")
    return {name: place[name] for name in names} | {
        "cells": list(cells),
        "instead": instead,
        "heading": heading.capitalize(),
        "fix": fix,
        "evidence": list(evidence),
        "facts": list(facts),
        "stacks": list(stacks),
    }


def write(page: Page, stream: TextIO) -> None:
    """Write the file. It asks no one for anything, and runs no script but its own."""
    codes = [at for at, column in enumerate(page.columns) if column.type == "code"]
    used = {row["cells"][at] for row in page.rows for at in codes} - {None}
    data = vars(page) | {
        "columns": [vars(column) for column in page.columns],
        "sort": {"column": page.sort, "down": page.sort is not None},
        "rules": {code: address for code in sorted(used) if (address := rule_address(code))},
        "around": AROUND,
    }
    style, script = _part("page.css"), _part("page.js")
    text = Template(_part("page.html")).substitute(
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_json(data),
    )
    stream.write(text)


def _json(data: dict[str, Any]) -> str:
    """Return JSON that cannot end the enclosing HTML element."""
    text = json.dumps(safe_values(_without_tabs(data)), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _without_tabs(data: dict[str, Any]) -> dict[str, Any]:
    lines = {
        path: {number: text.replace("\t", _TAB) for number, text in lines.items()}
        for path, lines in data["sources"].items()
    }
    return data | {"sources": lines}


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


class Excerpts:
    """The lines around the places of a page.

    A trace names files of the machine that shows it, whoever wrote it. So only lines around an expression are taken
    that stands where the trace says. That is also the source that ran.
    """

    def __init__(self) -> None:
        self.sources: dict[str, dict[str, str]] = {}
        self._lines = cache(_read_lines)

    def add(self, place: dict[str, Any], *, lines: Sequence[str] | None = None) -> None:
        """Take the lines around a place: of its file, or of the given ones."""
        known = lines is not None
        lines = self._lines(place["path"]) if lines is None else lines
        first, last = place["line"], place["end_line"] or place["line"]
        if not 0 < first <= last <= len(lines) or not (known or _stands(place, lines[first - 1 : last])):
            return
        kept = self.sources.setdefault(place["path"], {})
        for number in range(max(first - AROUND, 1), min(last + AROUND, len(lines)) + 1):
            kept[str(number)] = lines[number - 1]


def _stands(place: dict[str, Any], lines: Sequence[str]) -> bool:
    """Return whether a site's expression begins in these lines at the site's column."""
    text = "".join("".join(lines)[(place["column"] or 1) - 1 :].split())
    expression = "".join(place["expression"].split())
    return len(expression) > 1 and text.startswith(expression)


def _read_lines(path: str) -> list[str]:
    if not path.endswith((".py", ".pyi")):
        return []
    try:
        source = read_file(Path(path), _MAX_SOURCE).decode("utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        return []
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
