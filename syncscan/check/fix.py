"""Fixes: edits applied to a file without touching anything else in it."""

from __future__ import annotations

import ast
import difflib
import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from syncscan.check.files import Source, SourceError, decode, normalise
from syncscan.model import Applicability, Edit, Failure, Finding

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # as diffs know it
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Draft:
    """A file on its way from what it was to what the fixes make of it, with its own line ends."""

    source: Source
    before: str
    after: str
    encoding: str
    stuck: bool = False  # a fix gave what does not parse: no more of them here

    @classmethod
    def of(cls, source: Source, data: bytes) -> Draft:
        """The draft of a file whose content is ``data``; SourceError where that is not what was checked."""
        text, encoding = decode(data)
        if normalise(text) != source.text:
            raise SourceError("changed while it was checked; run syncscan again")
        if text.encode(encoding) != data:
            raise SourceError(
                f"not fixed: {encoding} would not give back what is in the file; save it as UTF-8"
            )
        return cls(source, text, text, encoding)

    @property
    def fixed(self) -> Source:
        """The file as the next round checks it."""
        return Source(self.source.path, self.source.shown, self.source.module, normalise(self.after))

    def apply(self, findings: Sequence[Finding]) -> Iterator[Failure]:
        """Apply the fixes of ``findings``; a failure, and no change, where the result would not parse."""
        text = apply_edits(self.after, findings)
        try:
            _parse(text)
            text.encode(self.encoding)
        except (SyntaxError, ValueError) as error:
            self.stuck = True
            codes = ", ".join(sorted({finding.code for finding in findings}))
            yield Failure(
                self.source.shown,
                getattr(error, "lineno", None) or 0,
                f"left as it was: with the fixes of {codes} it would not be valid ({error}); please report this",
            )
        else:
            self.after = text

    def diff(self) -> str:
        """A unified diff that ``patch`` and ``git apply`` understand, or "" where nothing changed."""
        name = self.source.shown
        mark = "\ufeff" if self.encoding == "utf-8-sig" else ""
        before, after = (_LINE.findall(mark + text) for text in (self.before, self.after))
        return "".join(map(_terminated, difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")))

    def write(self) -> None:
        """Put the fixed text in place of the file in one step, with its mode; SourceError where that fails."""
        try:
            write_atomically(self.source.path, self.after.encode(self.encoding))
        except OSError as error:
            raise SourceError(f"cannot be written: {error.strerror or error}") from error


def fixable(findings: Iterable[Finding], *, unsafe: bool) -> list[Finding]:
    """The findings whose fixes may be applied."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return [finding for finding in findings if finding.fix.edits and finding.fix.applicability in allowed]


def apply_edits(text: str, findings: Sequence[Finding]) -> str:
    """The text with the fixes of ``findings``; of fixes that overlap, the first wins, whole."""
    starts = _line_starts(text)
    taken: dict[tuple[int, int], str] = {}
    for finding in sorted(findings, key=lambda finding: finding.position):
        spans = {_span(edit, starts, len(text)): edit.text for edit in finding.fix.edits}
        if not any(_clash(span, new, taken) for span, new in spans.items()):
            taken.update(spans)
    for (start, end), new in sorted(taken.items(), reverse=True):
        text = text[:start] + _with_line_ends(new, text, start) + text[end:]
    return text


def _span(edit: Edit, starts: list[int], length: int) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1 if line <= len(starts) else length

    return offset(edit.line, edit.column), offset(edit.end_line, edit.end_column)


def _clash(span: tuple[int, int], new: str, taken: dict[tuple[int, int], str]) -> bool:
    """Whether an edit touches an accepted one; the same edit again (an import that two fixes need) does not."""
    if taken.get(span) == new:
        return False
    start, end = span
    return any(start == other or (start < other_end and other < end) for other, other_end in taken)


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def _with_line_ends(new: str, text: str, offset: int) -> str:
    r"""Write ``\n`` as the line ends of the text around it: as the next one, else as the last one."""
    if "\n" not in new:
        return new
    found = _LINE_END.search(text, offset)
    ends = [found[0]] if found else _LINE_END.findall(text[:offset])
    return new.replace("\n", ends[-1]) if ends else new


def _terminated(line: str) -> str:
    """A line of a diff; one without a line end gets the mark that ``patch`` understands."""
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _parse(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in the user's code is not our news
        ast.parse(normalise(text))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content so that at no moment half of it is there; keeps its mode bits."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
