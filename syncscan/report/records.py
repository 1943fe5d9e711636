"""The records of a report; the renderers get these and a stream."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from syncscan.check.baseline import normalised
from syncscan.check.result import FactsUsed
from syncscan.model import (
    UNUSED_SUPPRESSION,
    Applicability,
    Confidence,
    Evidence,
    Failure,
    Finding,
    Severity,
    Suppressed,
    When,
)
from syncscan.rule import rule_book
from syncscan.words import plural


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one check.

    ``refuted``: findings that runtime facts refute, listed if the report ``shows_all``.
    ``left_out``: the number of findings that are not shown, by when they run.
    ``suppressed``: findings that comments suppress. ``known``: findings of the baseline; ``gone`` of them have left.
    ``fixed``: the number of findings that fixes removed, or, if ``ignored``, that comments now suppress.
    ``fails_on``: findings from this severity on fail a build.
    ``folder``: the current folder below ``top``, the top of the repository.
    ``newer``: files that only a newer Python can parse. ``unfixed``: files that a fix left as they were.
    ``texts``: the source of every file with a finding, by its path.
    ``packages``: the installed packages that were read with the files; with ``is_cut``, in part.
    ``color``: the colour of text; None leaves the choice to the terminal. ``is_quiet``: findings alone.
    """

    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...] = ()
    checked: int = 0
    skipped: int = 0
    suppressed: tuple[Suppressed, ...] = ()
    known: tuple[Finding, ...] = ()
    gone: int = 0
    fixed: int = 0
    ignored: bool = False
    newer: tuple[Failure, ...] = ()
    unfixed: tuple[Failure, ...] = ()
    seconds: float = 0.0
    texts: Mapping[str, str] = field(default_factory=dict)
    fails_on: Severity = Severity.NOTE
    folder: str = ""
    top: str = ""
    left_out: Mapping[When, int] = field(default_factory=dict)
    facts: FactsUsed = field(default_factory=FactsUsed)
    refuted: tuple[Finding, ...] = ()
    packages: tuple[str, ...] = ()
    is_cut: bool = False
    shows_all: bool = False
    is_quiet: bool = False
    color: bool | None = None

    def in_repository(self, path: str) -> str:
        """Return a path relative to the top of the repository, with ``/``; a path outside stays unchanged."""
        if self.top and path.startswith(f"{self.top}/"):
            return path[len(self.top) + 1 :]
        return path if path.startswith("/") else posixpath.normpath(posixpath.join(self.folder, path))


def fingerprints(report: Report, findings: Iterable[Finding]) -> list[str]:
    """Return for each finding a key that survives shifted lines and formatters.

    The key is that of the baseline, and the number of the finding among those of the same key.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    made = []
    for finding in findings:
        key = (
            report.in_repository(finding.path),
            finding.function,
            finding.code,
            normalised(finding.expression),
        )
        seen[key] += 1
        made.append(
            hashlib.sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "backslashreplace")).hexdigest()[
                :32
            ]
        )
    return made


def in_file(finding: Finding) -> Finding:
    """Return the same for readers that know no cells and no changes: a finding in a notebook is about the whole file."""
    if finding.brought_by:
        finding = replace(
            finding, message=f"{finding.message} (introduced by the change of {finding.brought_by})"
        )
    if not finding.cell:
        return finding
    message = f"cell {finding.cell}, line {finding.line}: {finding.message}"
    whole = replace(finding, line=1, column=1, end_line=1, end_column=1, cell=0)
    return replace(whole, message=message, fix=replace(finding.fix, edits=()))


def advice(finding: Finding) -> str:
    """Return the suggestion: the finding's own, else the rule's."""
    if finding.fix.description:
        return finding.fix.description
    rule = rule_book().get(finding.code)
    return rule.instead if rule else ""


def heading(code: str, text: str) -> str:
    """Return the word before a suggestion: "in general" for what a rule says of all its sites, where none was written for this one."""
    rule = rule_book().get(code)
    return "in general" if rule is not None and text == rule.instead else "suggestion"


def advised(finding: Finding) -> str:
    """Return the suggestion behind its heading, as a sentence of a message; empty without a suggestion."""
    text = advice(finding)
    return f"{heading(finding.code, text).capitalize()}: {text}" if text else ""


_MOST_PLACES = 3


def places_of(steps: Sequence[Evidence]) -> str:
    """Return the places of the first steps, and a count of the rest."""
    more = [f"{len(steps) - _MOST_PLACES} more"] if len(steps) > _MOST_PLACES else []
    return ", ".join([*(step.place for step in steps[:_MOST_PLACES]), *more])


def summary(report: Report) -> str:
    """Return the counts of findings, files and findings left out, in one line."""
    how = "ignored from now on" if report.ignored else "fixed"
    done = f"{plural(report.fixed, 'finding')} {how}, " if report.fixed else ""
    left = " left" if done else ""
    if not report.findings:
        return f"{done}no findings{left}; {_coverage(report)}{_facts(report)}{_left_out(report)}"
    files = len({finding.path for finding in report.findings})
    found = f"{plural(len(report.findings), 'finding')}{left} in {plural(files, 'file')}"
    return f"{done}{found}; {_coverage(report)}{_fixable(report)}{_facts(report)}{_left_out(report)}"


def _facts(report: Report) -> str:
    """Return the counts of runtime facts used, out of date and refuted."""
    fitting, stale, refuted = report.facts.fitting, report.facts.stale, len(report.refuted)
    if not fitting and not stale:
        return ""
    old = f", those of {stale} out of date" if stale else ""
    shown = "" if report.shows_all else " (--when all shows them)"
    against = f", {plural(refuted, 'finding')} refuted{shown}" if refuted else ""
    return f"; facts of {plural(fitting, 'function')} used{old}{against}"


def _left_out(report: Report) -> str:
    """Return the counts of findings that are not shown, and the option that shows them."""
    names = {
        When.ONCE: "once",
        When.TEST: "in tests and examples",
        When.UNKNOWN: "at a time that is not known",
    }
    parts = [
        f"{plural(report.left_out[when], 'that runs', 'that run')} {name}"
        for when, name in names.items()
        if report.left_out.get(when)
    ]
    return f"; not shown: {', '.join(parts)} (--when all shows them)" if parts else ""


def entry_points(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the starts of the steps that reach findings, the one that reaches most first."""
    counts = Counter(finding.entry_point for finding in findings if finding.entry_point)
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the order of reports: blocks of every step first; cheap, explicit and hardly avoidable synchronizations last.

    Within frequency `step`, training and serving come before evaluation, and code for CUDA before code for ROCm alone.
    Code in a folder named ``deprecated`` or ``legacy`` comes after live code. Statements behind an ``if`` of their function
    come after the others, because fewer programs run them. Code shared by all models comes before the ``forward`` of one model,
    and code near an entry point before code deep in the call chain. Hidden synchronizations come before copies that the author
    wrote as copies, because readers act on them more often.
    """
    from syncscan.check.frequency.functions import drives_models  # noqa: PLC0415 (loads the inference, which a stored proof does without)
    from syncscan.check.infer.source.hardware import is_for_rocm  # noqa: PLC0415 (loads the inference too)

    def rank(finding: Finding) -> tuple[object, ...]:
        root = finding.call_chain[0].rpartition(".")[2] if finding.call_chain else ""
        return (
            finding.code == UNUSED_SUPPRESSION,
            _ORDER[finding.when],
            finding.confidence is Confidence.ASSUMED,
            bool(finding.switch),
            finding.evaluation,
            is_for_rocm(finding.path, finding.function),
            not _DEPRECATED.isdisjoint(PurePath(finding.path).parts[:-1]),
            bool(finding.follows) or finding.code in _SELDOM_AVOIDABLE,
            finding.conditional,
            not drives_models(root),
            finding.code in _WRITTEN_AS_COPIES,
            root.startswith("forward"),
            len(finding.call_chain),
            *finding.position,
        )

    return tuple(sorted(findings, key=rank))


_ORDER = {When.STEP: 0, When.UNKNOWN: 1, When.ONCE: 2, When.TEST: 3}
_DEPRECATED = frozenset({"deprecated", "legacy"})  # folders of code that users should leave
# Rules of small copies, of explicit synchronizations, and of checks for errors in results that programs mostly need.
_SELDOM_AVOIDABLE = frozenset({"SYN303", "SYN304", "SYN401", "SYN502"})
_WRITTEN_AS_COPIES = frozenset({"SYN102", "SYN105", "SYN302"})


_MOST_PACKAGES = 4


def _named(packages: Sequence[str]) -> str:
    """Return the names of the first packages, and a count of the rest."""
    more = len(packages) - _MOST_PACKAGES
    names = [*packages[:_MOST_PACKAGES], *([plural(more, "more package")] if more > 0 else [])]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _coverage(report: Report) -> str:
    """Return the counts of files checked, excluded, and not analysed."""
    failed = {failure.path for failure in report.failures if not failure.partial}
    doubtful = {failure.path for failure in report.failures} - failed
    some = f" ({len(doubtful)} in part)" if doubtful else ""
    parts = [f"{len(report.known)} in the baseline"] if report.known else []
    parts += [f"{plural(report.checked, 'file')} checked{some} in {report.seconds:.1f} s"]
    part = " in part" if report.is_cut else ""
    parts += [f"sources of {_named(report.packages)} read{part}"] if report.packages else []
    parts += [f"{report.skipped} excluded"] if report.skipped else []
    parts += [f"{len(failed)} not analysed"] if failed else []
    parts += [f"{len(report.newer)} skipped, in newer syntax"] if report.newer else []
    unfixed = len({failure.path for failure in report.unfixed})
    parts += [f"{unfixed} not fixed"] if unfixed else []
    return ", ".join(parts)


def _fixable(report: Report) -> str:
    kinds = [finding.fix.applicability for finding in report.findings if finding.fix.edits]
    safe, unsafe = (kinds.count(Applicability.SAFE), kinds.count(Applicability.UNSAFE))
    parts = [f"{safe} with --fix"] if safe else []
    parts += [f"{unsafe} with --unsafe-fixes"] if unsafe else []
    return f"; can be fixed: {', '.join(parts)}" if parts else ""
