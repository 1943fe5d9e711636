"""Suppressions: ``# syncscan: ignore[SYN101] reason``, and their faults (SYN001).

A comment behind code covers its line and each construct that begins or ends there: a statement, the head of a
compound statement, or brackets. A comment on a line of its own covers the next line of code and each
construct that begins there. A suppression covers the findings whose expressions overlap these lines. A
suppression therefore survives a formatter that splits its line.

The parser finds comments, statements and brackets with ``tokenize``, so that a string never counts as a
comment.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from syncscan.check.files import Source
from syncscan.config import longest_prefix
from syncscan.errors import suggestion
from syncscan.model import UNUSED_SUPPRESSION, Applicability, Confidence, Edit, Finding, Fix, Suppressed
from syncscan.rule import rule_book

_FORM = "`# syncscan: ignore[SYN101] reason`"

# A reason ends where another tool's comment starts: "# syncscan: ignore[SYN101] why  # type: ...".
COMMENT = re.compile(
    r"(?<!\S)#\s*(?i:syncscan):\s*(?P<verb>[\w-]*)(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*?)(?=\s+#\s|$)"
)

_IGNORES = ("ignore", "file-ignore")
_BETWEEN = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppressing comment, and the lines from ``first`` to ``last`` that it covers."""

    line: int
    column: int
    text: str
    verb: str
    codes: tuple[str, ...]
    reason: str
    first: int
    last: int
    removal: Edit

    @property
    def end_column(self) -> int:
        """The column after the last character of the comment, 1-based."""
        return self.column + len(self.text)

    def suppresses(self, finding: Finding) -> bool:
        """Return whether the comment says to ignore, covers the lines of a finding, and names its code or a prefix of the code."""
        if self.verb not in _IGNORES:
            return False
        touches = self.first <= finding.end_line and finding.line <= self.last
        return touches and longest_prefix(finding.code, self.codes) > 0


@dataclass(frozen=True, slots=True)
class _Comment:
    line: int
    column: int  # 0-based, of the "#"
    row: str  # the whole line
    first: int  # the first covered line
    last: int


def apply_suppressions(
    findings: Sequence[Finding], sources: Iterable[Source], *, require_reason: bool
) -> tuple[list[Finding], list[Suppressed]]:
    """Return the findings that remain, and the suppressed findings with their reasons.

    A SYN001 for each useless comment is among the remaining findings. ``require_reason`` makes a comment
    without a reason such a comment.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for source in sources:
        found = by_path.get(source.shown, [])
        if suppressions := find_suppressions(source.text):
            found, more = _apply(found, suppressions, source.shown, require_reason=require_reason)
            suppressed += more
        kept += found
    kept.sort(key=lambda finding: finding.position)
    return kept, sorted(suppressed, key=lambda one: one.finding.position)


def _apply(
    findings: list[Finding], suppressions: list[Suppression], path: str, *, require_reason: bool
) -> tuple[list[Finding], list[Suppressed]]:
    complaints = [
        complaint
        for suppression in suppressions
        if suppression.verb != "sync-free"  # a contract, see `syncscan.check.prove`
        for complaint in _judge(suppression, findings, path, require_reason=require_reason)
    ]
    kept, suppressed = [], []
    for finding in (*findings, *complaints):
        by = next((one for one in suppressions if one.suppresses(finding)), None)
        if by is None:
            kept.append(finding)
        else:
            suppressed.append(Suppressed(finding, by.reason))
    return kept, suppressed


def find_suppressions(text: str) -> list[Suppression]:
    """Return every comment of a file that is addressed to syncscan, valid or not."""
    if "syncscan:" not in text.lower():  # tokenizing takes longer than parsing
        return []
    rows = text.split("\n")
    return [
        suppression
        for comment in _comments(text, rows)
        for found in COMMENT.finditer(comment.row[comment.column :])
        if (suppression := _parse(comment, found, len(rows)))
    ]


def _comments(text: str, rows: list[str]) -> list[_Comment]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):  # the parser reports the error
        return []
    begins, ends = _spans(tokens)
    comments = []
    below = len(rows)  # the next line of code
    for token in reversed(tokens):
        line, column = token.start
        if token.type == tokenize.COMMENT:
            row = rows[line - 1]
            alone = not row[:column].strip()
            first = line if alone else begins.get(line, line)
            last = ends.get(below, below) if alone else ends.get(line, line)
            comments.append(_Comment(line, column, row, first, last))
        elif token.type not in _BETWEEN:
            below = line
    return comments[::-1]


def _spans(tokens: Iterable[tokenize.TokenInfo]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the spans of statements, heads and brackets: the first line by the last line, and the last line by the first.

    The widest span counts where several begin or end on a line.
    """
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    brackets: list[int] = []  # the lines of the open brackets
    statement = 0  # the first line of the current statement, or 0 between two

    def add(first: int, last: int) -> None:
        begins[last] = min(first, begins.get(last, first))
        ends[first] = max(last, ends.get(first, last))

    for token in tokens:
        line = token.start[0]
        if token.type == tokenize.NEWLINE:
            add(statement or line, line)
            statement = 0
        elif token.type not in _BETWEEN:
            statement = statement or line
            if token.type == tokenize.OP and token.string in "([{":
                brackets.append(line)
            elif token.type == tokenize.OP and token.string in ")]}" and brackets:
                add(brackets.pop(), line)
    return begins, ends


def _parse(comment: _Comment, found: re.Match[str], lines: int) -> Suppression:
    codes = tuple(code.strip().upper() for code in (found["codes"] or "").split(",") if code.strip())
    start = comment.column + found.start()
    first, last = (1, lines) if found["verb"].lower() == "file-ignore" else (comment.first, comment.last)
    return Suppression(
        line=comment.line,
        column=start + 1,
        text=found[0],
        verb=found["verb"].lower(),
        codes=codes,
        reason=found["reason"].strip(" \t:-"),
        first=first,
        last=last,
        removal=_removal(comment.line, comment.row, start, start + len(found[0])),
    )


def _removal(line: int, row: str, start: int, end: int) -> Edit:
    """Return the edit that removes a comment with the space around it, and its line where nothing else is on the line."""
    before, after = (row[:start].rstrip(), row[end:].lstrip())
    if not before and not after:
        return Edit(line, 1, line + 1, 1, "")
    if not after:
        return Edit(line, len(before) + 1, line, len(row) + 1, "")
    return Edit(line, start + 1, line, len(row) - len(after) + 1, "")


def _judge(
    suppression: Suppression, findings: list[Finding], path: str, *, require_reason: bool
) -> Iterable[Finding]:
    """Yield at most one complaint about a suppression."""
    if suppression.verb not in _IGNORES:
        word = suggestion(suppression.verb, _IGNORES, "it says neither ignore nor file-ignore.")
        yield _complain(suppression, path, f"is not understood; {word} Write {_FORM}")
        return
    if not suppression.codes:
        yield _complain(suppression, path, f"names no code, so it suppresses nothing; write {_FORM}")
        return
    unknown = [c for c in suppression.codes if not any(known.startswith(c) for known in rule_book())]
    if unknown:
        hint = suggestion(unknown[0], rule_book(), "`syncscan rule` lists them")
        message = f"names the unknown code {unknown[0]}; {hint}"
        yield _complain(suppression, path, message)
        return
    used = {
        code
        for code in suppression.codes
        if code == UNUSED_SUPPRESSION or _is_used(suppression, code, findings)
    }
    unused = [code for code in suppression.codes if code not in used]
    if unused:
        message = f"suppresses nothing: no {', '.join(unused)} here"
        yield _complain(suppression, path, message, _remove(suppression, unused))
    elif require_reason and not suppression.reason:
        yield _complain(
            suppression, path, "gives no reason; say after the codes why the finding is suppressed"
        )


def _is_used(suppression: Suppression, code: str, findings: list[Finding]) -> bool:
    return any(finding.code.startswith(code) and suppression.suppresses(finding) for finding in findings)


def _remove(suppression: Suppression, unused: list[str]) -> Fix:
    """Return the fix that removes the unused codes from a comment, or the whole comment if no code remains."""
    left = [code for code in suppression.codes if code not in unused]
    edit = suppression.removal
    if left:
        text = re.sub(r"\[[^\]]*\]", f"[{', '.join(left)}]", suppression.text, count=1)
        edit = Edit(suppression.line, suppression.column, suppression.line, suppression.end_column, text)
    return Fix(Applicability.SAFE, "take out what suppresses nothing", (edit,))


def _complain(suppression: Suppression, path: str, message: str, fix: Fix | None = None) -> Finding:
    return Finding(
        code=UNUSED_SUPPRESSION,
        name=rule_book()[UNUSED_SUPPRESSION].name,
        path=path,
        line=suppression.line,
        column=suppression.column,
        end_line=suppression.line,
        end_column=suppression.end_column,
        function="",
        expression=suppression.text,
        message=f"this comment {message}",
        confidence=Confidence.PROVED,
        fix=fix or Fix(Applicability.NONE, f"write {_FORM}, or remove the comment"),
    )
