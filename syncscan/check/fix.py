"""Fixes: edits applied to a file without touching anything else in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syncscan.check.files import Source, SourceError, decode, normalise, notebook_of, source_of
from syncscan.check.nesting import parse
from syncscan.check.notebook import SUFFIX, Notebook, NotebookError
from syncscan.check.write import CHANGED, replace_content
from syncscan.model import Applicability, Edit, Failure, Finding

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # as diffs know it
_LINE_END = re.compile(r"\r\n|\r|\n")
Place = tuple[int, int]  # a line and a column


@dataclass(slots=True)
class Draft:
    """A file between its original text and its fixed text, with its own line ends."""

    source: Source
    before: str
    after: str
    encoding: str
    notebook: Notebook | None = None
    stuck: bool = False  # a fix left code that does not parse: no more fixes here

    @classmethod
    def of(cls, source: Source, data: bytes) -> Draft:
        """Return the draft of a file whose content is ``data``; SourceError where that must not be fixed."""
        if source.link:
            raise SourceError(
                f"not fixed: only the symbolic link {source.link} leads to it; name the file itself"
            )
        if source.shown.endswith(SUFFIX):
            return cls._of_notebook(source, data)
        text, encoding = decode(data)
        if normalise(text) != source.text:
            raise SourceError(CHANGED)
        if text.encode(encoding) != data:
            raise SourceError(
                f"not fixed: {encoding} would not give back what is in the file; save it as UTF-8"
            )
        return cls(source, text, text, encoding)

    @classmethod
    def _of_notebook(cls, source: Source, data: bytes) -> Draft:
        found = notebook_of(data)
        if source_of(found, found.text, source).text != source.text:
            raise SourceError(CHANGED)
        draft = cls(source, found.text, found.text, "utf-8", found)
        if draft.content(found.text) != data:
            raise SourceError("not fixed: its JSON would not come out as it is; save it in Jupyter first")
        return draft

    @property
    def fixed(self) -> Source:
        """The file as the next check reads the file."""
        return self._as_source(self.after)

    def _as_source(self, text: str) -> Source:
        if self.notebook:
            return source_of(self.notebook, text, self.source)
        return replace(self.source, text=normalise(text))

    def content(self, text: str) -> bytes:
        """Return the whole file with a text; SourceError where that cannot be."""
        if self.notebook is None:
            return text.encode(self.encoding)
        try:
            return self.notebook.written(text)
        except NotebookError as error:
            raise SourceError(f"not fixed: {error}") from error

    def apply(self, findings: Sequence[Finding]) -> Iterator[Failure]:
        """Apply the fixes of ``findings``; a failure, and no change, where the result would not parse."""
        text = apply_edits(self.after, findings)
        try:
            source = self._as_source(text)
            parse(source.text)
            if source.broken != self.source.broken:
                raise ValueError(f"a cell would be no Python: {source.broken}")
            self.content(text)
            encoding = self.encoding if self.notebook else decode(text.encode(self.encoding))[1]
            if encoding != self.encoding:  # another comment may now stand where Python looks for one
                raise ValueError(f"its encoding would be {encoding}")
        except (SyntaxError, ValueError, RecursionError, SourceError) as error:
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
        """Return a unified diff that ``patch`` and ``git apply`` understand, or "" where nothing changed."""
        name = self.source.shown
        mark = "\ufeff" if self.encoding == "utf-8-sig" else ""
        if self.notebook:
            texts = [self.content(text).decode() for text in (self.before, self.after)]
        else:
            texts = [mark + self.before, mark + self.after]
        before, after = map(_LINE.findall, texts)
        lines = difflib.unified_diff(before, after, _quoted(f"a/{name}"), _quoted(f"b/{name}"))
        return "".join(map(_terminated, lines))

    def write(self) -> None:
        """Put the fixed text in the place of the old one; SourceError, and no change, where that fails."""
        replace_content(self.source.path, self.content(self.before), self.content(self.after))


def fixable(findings: Iterable[Finding], *, unsafe: bool) -> list[Finding]:
    """Return the findings whose fixes may be applied."""
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return [finding for finding in findings if finding.fix.edits and finding.fix.applicability in allowed]


def apart(findings: Iterable[Finding], others: Sequence[Finding] = ()) -> list[Finding]:
    """Return the findings whose fixes can be applied together, and with those of ``others``: of fixes that overlap, the first.

    The fixes of ``others`` do not overlap.
    """
    taken: dict[tuple[str, int], dict[tuple[Place, Place], str]] = {}
    kept = []
    for finding in (*others, *sorted(findings, key=lambda finding: finding.position)):
        spans = {((e.line, e.column), (e.end_line, e.end_column)): e.text for e in finding.fix.edits}
        own = taken.setdefault((finding.path, finding.cell), {})
        if not any(_clash(span, new, own) for span, new in spans.items()):
            own.update(spans)
            kept.append(finding)
    return kept[len(others) :]


def apply_edits(text: str, findings: Sequence[Finding]) -> str:
    """Return the text with the fixes of ``findings``; of fixes that overlap, the first wins, whole."""
    starts = _line_starts(text)
    spans = {
        _span(edit, starts, len(text)): edit.text for finding in apart(findings) for edit in finding.fix.edits
    }
    for (start, end), new in sorted(spans.items(), reverse=True):
        text = text[:start] + _with_line_ends(new, text, start) + text[end:]
    return text


def _span(edit: Edit, starts: list[int], length: int) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1 if line <= len(starts) else length

    return offset(edit.line, edit.column), offset(edit.end_line, edit.end_column)


def _clash(span: tuple[Place, Place], new: str, taken: dict[tuple[Place, Place], str]) -> bool:
    """Return whether an edit touches an accepted edit; an identical edit (a shared import) does not."""
    if taken.get(span) == new:
        return False
    start, end = span
    return any(start == other or (start < other_end and other < end) for other, other_end in taken)


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def _with_line_ends(new: str, text: str, offset: int) -> str:
    r"""Write ``\ `` as the line ends of the text around: as the next line end, else as the last one."""
    if "\n" not in new:
        return new
    found = _LINE_END.search(text, offset)
    ends = [found[0]] if found else _LINE_END.findall(text[:offset])
    return new.replace("\n", ends[-1]) if ends else new


def _quoted(name: str) -> str:
    """Return a name in the head of a diff, quoted as git quotes control characters and quotes."""
    if not re.search(r'[\x00-\x1f\x7f"]', name):
        return name
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\{ord(found[0]):03o}", text) + '"'


def _terminated(line: str) -> str:
    """Return a line of a diff; without a line end, with the mark that ``patch`` understands."""
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
