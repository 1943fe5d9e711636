"""Suppressions: ``# syncscan: ignore[SYN101] reason``, and what is wrong with them (SYN001).

They are comments, found with ``tokenize``, so that a string that looks like one never counts.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from syncscan.check.files import Source
from syncscan.config import longest_prefix
from syncscan.errors import nearest
from syncscan.model import UNUSED_SUPPRESSION, Applicability, Confidence, Edit, Finding, Fix
from syncscan.rule import rule_book

_FORM = "`# syncscan: ignore[SYN101] reason`"

# A reason ends where another tool's comment starts: "# syncscan: ignore[SYN101] why  # type: ...".
_COMMENT = re.compile(
    r"(?<!\S)#\s*syncscan:\s*(?P<verb>[\w-]*)(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*?)(?=\s+#\s|$)"
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. ``covers`` is the line of code that it is about, or 0 for the whole file."""

    line: int
    column: int
    text: str
    verb: str
    codes: tuple[str, ...]
    reason: str
    covers: int
    alone: bool  # nothing else stands on its line
    removal: Edit

    @property
    def end_column(self) -> int:
        """The column after its last character."""
        return self.column + len(self.text)

    def suppresses(self, finding: Finding) -> bool:
        """Whether it is about this finding."""
        if not longest_prefix(finding.code, self.codes):
            return False
        if self.covers == 0:
            return True
        if self.alone:  # about the line below; or inside an expression of several lines
            return self.covers == finding.line or finding.line <= self.line <= finding.end_line
        return finding.line <= self.covers <= finding.end_line


@dataclass(frozen=True, slots=True)
class _Comment:
    line: int
    column: int  # 0-based, of the "#"
    row: str  # the whole line
    alone: bool


def apply_suppressions(
    findings: Sequence[Finding], sources: Iterable[Source], *, require_reason: bool
) -> list[Finding]:
    """The findings that no comment suppresses, and a SYN001 for each comment that is of no use."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    kept: list[Finding] = []
    for source in sources:
        found = by_path.get(source.shown, [])
        if suppressions := find_suppressions(source.text):
            found = _apply(found, suppressions, source.shown, require_reason=require_reason)
        kept += found
    return sorted(kept, key=lambda finding: finding.position)


def _apply(
    findings: list[Finding], suppressions: list[Suppression], path: str, *, require_reason: bool
) -> list[Finding]:
    complaints = [
        complaint
        for suppression in suppressions
        for complaint in _judge(suppression, findings, path, require_reason=require_reason)
    ]
    return [f for f in (*findings, *complaints) if not any(s.suppresses(f) for s in suppressions)]


def find_suppressions(text: str) -> list[Suppression]:
    """Every comment of a file that speaks to syncscan, understood or not."""
    if "syncscan:" not in text:  # to tokenize takes longer than to parse
        return []
    comments = _comments(text)
    alone = {comment.line for comment in comments if comment.alone}
    return [
        suppression
        for comment in comments
        for found in _COMMENT.finditer(comment.row[comment.column :])
        if (suppression := _parse(comment, found, alone))
    ]


def _comments(text: str) -> list[_Comment]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    rows = text.split("\n")
    try:
        return [
            _Comment(t.start[0], t.start[1], rows[t.start[0] - 1], t.line[: t.start[1]].strip() == "")
            for t in tokens
            if t.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):  # reported where the file is parsed
        return []


def _parse(comment: _Comment, found: re.Match[str], alone: set[int]) -> Suppression:
    codes = tuple(code.strip().upper() for code in (found["codes"] or "").split(",") if code.strip())
    start = comment.column + found.start()
    covers = comment.line
    while comment.alone and covers in alone:
        covers += 1
    return Suppression(
        line=comment.line,
        column=start + 1,
        text=found[0],
        verb=found["verb"],
        codes=codes,
        reason=found["reason"].strip(" \t:-"),
        covers=0 if found["verb"] == "file-ignore" else covers,
        alone=comment.alone,
        removal=_removal(comment.line, comment.row, start, start + len(found[0])),
    )


def _removal(line: int, row: str, start: int, end: int) -> Edit:
    """Remove a comment with the space around it, and with its line where that is then empty."""
    before, after = row[:start].rstrip(), row[end:].lstrip()
    if not before and not after:
        return Edit(line, 1, line + 1, 1, "")
    if not after:
        return Edit(line, len(before) + 1, line, len(row) + 1, "")
    return Edit(line, start + 1, line, len(row) - len(after) + 1, "")


def _judge(
    suppression: Suppression, findings: list[Finding], path: str, *, require_reason: bool
) -> Iterable[Finding]:
    """What is wrong with a suppression: at most one complaint."""
    if suppression.verb not in {"ignore", "file-ignore"}:
        word = nearest(suppression.verb, ("ignore", "file-ignore"), "it says neither ignore nor file-ignore.")
        yield _complain(suppression, path, f"is not understood; {word} Write {_FORM}")
        return
    if not suppression.codes:
        yield _complain(suppression, path, f"names no code, so it suppresses nothing; write {_FORM}")
        return
    unknown = [c for c in suppression.codes if not any(known.startswith(c) for known in rule_book())]
    if unknown:
        hint = nearest(unknown[0], rule_book(), "`syncscan rules` lists them")
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
        yield _complain(suppression, path, "gives no reason; say after the codes why the wait is meant")


def _is_used(suppression: Suppression, code: str, findings: list[Finding]) -> bool:
    return any(finding.code.startswith(code) and suppression.suppresses(finding) for finding in findings)


def _remove(suppression: Suppression, unused: list[str]) -> Fix:
    """Take the unused codes out of a comment, or the whole comment where none is left."""
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
