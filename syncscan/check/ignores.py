"""Suppressions for findings: a comment above each statement, where a formatter leaves it.

A formatter would move a comment behind the code when a line is split. Only a statement on the line of its
head (``if lost: report(lost.item())``) has its comment there, because a formatter gives both a line of
their own.
"""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace

from syncscan.check.nesting import parse
from syncscan.check.suppress import COMMENT
from syncscan.model import UNUSED_SUPPRESSION, Applicability, Edit, Finding, Fix


def check_reason(reason: str) -> str:
    """Return a reason as a comment can hold it; ValueError where it would not be read back."""
    text = reason.strip()
    if not text:
        raise ValueError("it is empty; say why the findings are suppressed")
    found = COMMENT.match(f"# syncscan: ignore[SYN101] {text}")
    if not text.isprintable() or found is None or found["reason"].strip(" \t:-") != text:
        raise ValueError("a comment could not hold it; write one line without ' # '")
    return text


def ignoring(findings: Iterable[Finding], texts: Mapping[str, str], reason: str) -> list[Finding]:
    """Return one finding for each statement with findings; its fix is the edit that adds the comment."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.code != UNUSED_SUPPRESSION:
            by_path.setdefault(finding.path, []).append(finding)
    return [one for path, found in by_path.items() for one in _in_file(found, texts[path], reason)]


def _in_file(findings: list[Finding], text: str, reason: str) -> Iterable[Finding]:
    rows = text.split("\n")
    lines = _logical_lines(text)
    inner = _inner_statements(text)
    by_place: dict[tuple[int, int, bool], list[Finding]] = {}
    for finding in findings:
        first, last = lines[bisect_left(lines, finding.line, key=lambda line: line[1])]
        shares = any(start <= (finding.line, finding.column) < end for start, end in inner)
        by_place.setdefault((first, last, shares), []).append(finding)
    for (first, last, shares), found in by_place.items():
        codes = ", ".join(sorted({finding.code for finding in found}))
        comment = f"# syncscan: ignore[{codes}] {reason}"
        if shares:
            column = len(rows[last - 1].rstrip()) + 1
            edit = Edit(last, column, last, column, f"  {comment}")
        else:
            row = rows[first - 1]
            indent = row[: len(row) - len(row.lstrip())]
            edit = Edit(first, 1, first, 1, f"{indent}{comment}\n")
        yield replace(found[0], fix=Fix(Applicability.SAFE, "suppress the finding", (edit,)))


def _logical_lines(text: str) -> list[tuple[int, int]]:
    """Return the first and last line of each statement, or head of one, as Python reads lines."""
    found, first = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            found.append((first or token.start[0], token.start[0]))
            first = 0
        elif token.type not in {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}:
            first = first or token.start[0]
    return found


def _inner_statements(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the source ranges of statements that do not begin their line, as 1-based lines and columns."""
    rows = text.split("\n")

    def place(line: int, offset: int) -> tuple[int, int]:
        return line, len(rows[line - 1].encode()[:offset].decode()) + 1

    return [
        (place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(parse(text))
        if isinstance(node, ast.stmt) and rows[node.lineno - 1].encode()[: node.col_offset].strip()
    ]
