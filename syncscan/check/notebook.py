"""Notebooks: the code cells of an ``.ipynb`` file as one program, and back into the file with all else as it was.

In the program each cell follows on a line that separates it from the one before. Syntax of IPython alone
(magics, shell commands, questions) becomes Python that does nothing and takes as much room, so that
lines and columns stay.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syncscan.check.nesting import parse

SUFFIX = ".ipynb"

# The magics of cells that run the cell as Python; under others it is in another language, or a file.
_PYTHON_CELLS = frozenset(
    {"time", "timeit", "capture", "prun", "python", "python3", "memit", "mprun", "lprun"}
)
_CELL_MAGIC = re.compile(r"\s*%%(\w*)")
# The magics of lines that run the rest of the line as Python, with their options.
_RUNS = re.compile(r"(?P<indent>\s*)%(time|timeit|prun|memit)\b(?P<options>(\s+-\w+(\s+\d+)?)*)\s*(?=\S)")
_ASSIGNS = re.compile(r"(?P<target>\s*[\w.,\[\] ]+?=\s*)[%!].*")


class NotebookError(ValueError):
    """A fault of a file with the suffix of a notebook."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as it was read: its JSON, and the numbers of its code cells, counted from 1 over all cells."""

    data: dict[str, Any]
    style: dict[str, Any] | None  # the style of the JSON; None where no style reproduces the bytes
    end: str
    numbers: tuple[int, ...]

    @property
    def cells(self) -> list[str]:
        """The text of each code cell."""
        return [_text(self.data["cells"][number - 1]) for number in self.numbers]

    @property
    def text(self) -> str:
        """The program with the cells as they are, magics and all."""
        return "".join(
            f"{_mark(number)}\n{cell}\n" for number, cell in zip(self.numbers, self.cells, strict=True)
        )

    def written(self, text: str) -> bytes:
        """Return the file with another program; raise NotebookError if the rest of the file would change."""
        if self.style is None:
            raise NotebookError(
                "its JSON is not written as Jupyter writes it, and would be; save it there first"
            )
        pattern = "".join(re.escape(f"{_mark(number)}\n") + r"((?s:.*))\n" for number in self.numbers)
        found = re.fullmatch(pattern, text)
        if found is None:
            raise NotebookError("its cells would be mixed up")
        data = json.loads(json.dumps(self.data))
        for number, cell in zip(self.numbers, found.groups(), strict=True):
            old = data["cells"][number - 1]
            if cell != _text(old):
                old["source"] = cell.splitlines(keepends=True) if isinstance(old["source"], list) else cell
        return (json.dumps(data, **self.style) + self.end).encode()


def read_notebook(content: bytes) -> Notebook:
    """Read the content of a file; raise NotebookError if the content is no notebook of Python."""
    try:
        text = content.decode("utf-8")
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"no notebook: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise NotebookError("no notebook of nbformat 4: it has no cells; open and save it in Jupyter")
    language = _language(data)
    if language not in {"python", "python3", "ipython", ""}:
        return Notebook({"cells": []}, None, "", ())
    cells = data["cells"]
    numbers = tuple(number for number, cell in enumerate(cells, 1) if _is_code(cell))
    end = text[len(text.rstrip()) :]
    return Notebook(data, _style(data, text.rstrip()), end, numbers)


def _language(data: dict[str, Any]) -> str:
    metadata = data.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else ""
    return name.lower() if isinstance(name, str) else ""


def _is_code(cell: Any) -> bool:
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return False
    source = cell.get("source")
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(s, str) for s in source))


def _text(cell: dict[str, Any]) -> str:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _style(data: dict[str, Any], text: str) -> dict[str, Any] | None:
    """Return the indent and the escapes that reproduce the JSON's text; None if no style does."""
    for indent in (1, 2, 4, None):
        for is_ascii in (False, True):
            style: dict[str, Any] = {"indent": indent, "ensure_ascii": is_ascii}
            if json.dumps(data, **style) == text:
                return style
    return None


def _mark(number: int) -> str:
    return f"# [syncscan: cell {number}]"


@dataclass(frozen=True, slots=True)
class NotebookCells:
    """The places of the cells in the program of a notebook: their numbers, and the lines before their first ones."""

    numbers: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()

    def place(self, line: int) -> tuple[int, int]:
        """Return the cell of a line of the program, and the line in it; cell 0 where there are no cells."""
        index = bisect_right(self.starts, line - 1) - 1
        if index < 0 or not line:
            return 0, line
        return self.numbers[index], line - self.starts[index]


def program(text: str, numbers: Sequence[int]) -> tuple[str, NotebookCells, list[tuple[int, str]]]:
    """Return the program of a notebook as Python, where its cells lie, and the lines in which cells are no Python.

    A cell that is no Python is left out, so that the others are checked.
    """
    rows = text.split("\n")
    marks = {_mark(number): number for number in numbers}
    starts = [index + 1 for index, row in enumerate(rows) if row in marks]
    broken = []
    ends = [*(start - 1 for start in starts[1:]), len(rows) - 1]
    for first, end in zip(starts, ends, strict=False):  # without cells, `ends` has one entry too many
        cell, error = _as_python(rows[first:end])
        rows[first:end] = cell
        if error:
            broken.append((first + (error.lineno or 1), f"syntax error: {error.msg}"))
    found = NotebookCells(tuple(marks[rows[start - 1]] for start in starts), tuple(starts))
    return "\n".join(rows), found, broken


def _as_python(rows: list[str]) -> tuple[list[str], SyntaxError | None]:
    """Return a cell without IPython's own syntax; if the rest is no Python, empty lines and the error."""
    first = next((index for index, row in enumerate(rows) if row.strip()), None)
    if first is not None and (magic := _CELL_MAGIC.match(rows[first])):
        if magic[1] not in _PYTHON_CELLS:
            return [""] * len(rows), None
        rows = ["" if index == first else row for index, row in enumerate(rows)]
    while True:
        try:
            parse("\n".join(rows) + "\n")
        except SyntaxError as error:
            changed = _without_magic(rows, (error.lineno or 1) - 1)
            if changed is None:
                return [""] * len(rows), error
            rows = changed
        except (ValueError, RecursionError) as error:
            return [""] * len(rows), SyntaxError(str(error))
        else:
            return rows, None


def _without_magic(rows: list[str], index: int) -> list[str] | None:
    """Return the rows with Python in place of a line magic and its continuation lines."""
    if not 0 <= index < len(rows) or (line := _line_as_python(rows[index])) is None:
        return None
    changed = [*rows]
    ends = rows[index].endswith("\\") and not _RUNS.match(rows[index])
    changed[index] = line
    while ends and index + 1 < len(rows):
        index += 1
        ends = rows[index].endswith("\\")
        changed[index] = ""
    return changed


def _line_as_python(row: str) -> str | None:
    if runs := _RUNS.match(row):
        before = runs["indent"]
        return f"{before}None;".ljust(runs.end()) + row[runs.end() :]
    if assigns := _ASSIGNS.fullmatch(row):
        return f"{assigns['target']}None"
    stripped = row.strip()
    if stripped.startswith(("%", "!", "?")) or re.fullmatch(r"[\w.*]+\?\??", stripped):
        return row[: len(row) - len(row.lstrip())] + "pass"
    return None
