"""The search for the fixes that can be verified: all at once first, and halves of them where that fails."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syncscan.check.fix import apart
from syncscan.model import Finding
from syncscan.trace.lines import ran
from syncscan.verify.run import Run
from syncscan.words import plural

_STILL = "synchronizes after the fix, too"
_OVERLAPS = "its edit overlaps that of a verified fix: run the command again"
Trial = Callable[[Sequence[Finding]], Run]


@dataclass
class Verdicts:
    """The verified fixes, the others with their reasons, and the first and the last run that held."""

    verified: list[Finding] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)
    before: Run | None = None
    after: Run | None = None


class Kept:
    """Recorded runs by their fixes, so that an interrupted search continues."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._runs: dict[str, Run] = {}
        self.made = 0  # in this process
        if file is not None and file.exists():
            data = json.loads(file.read_text(encoding="utf-8"))
            self._runs = {key: Run.of_json(run) for key, run in data.items()}

    def run(self, contents: Mapping[Path, bytes], make: Callable[[], Run]) -> Run:
        """Return the run with these contents, from the cache or by a new run."""
        digest = hashlib.sha256()
        for path, content in sorted(contents.items()):
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        key = digest.hexdigest()
        if key not in self._runs:
            self._runs[key] = make()
            self.made += 1
            self._write()
        return self._runs[key]

    def _write(self) -> None:
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            data = {key: run.to_json() for key, run in self._runs.items()}
            self._file.write_text(json.dumps(data), encoding="utf-8")


def search(findings: Sequence[Finding], trial: Trial, say: Callable[[str], None]) -> Verdicts:
    """Return which fixes hold in the run of a command: the same outcomes, and fewer synchronizations at their lines.

    ``trial`` runs the command with some of the fixes. A fix whose line did not synchronize in the run without any is not tried.
    """
    verdicts = Verdicts(before=trial(()))
    assert verdicts.before is not None
    verdicts.after = verdicts.before
    say(f"without fixes: {_in_words(verdicts.before)}")
    if verdicts.before.status:
        say("the command fails without fixes; a fix is verified if the command then fails in the same way")
    tried = []
    for finding in sorted(findings, key=lambda each: each.position):
        if _syncs_at(verdicts.before, finding, ()):
            tried.append(finding)
        else:
            verdicts.refused.append((finding, _why_not_tried(verdicts.before, finding)))
    while tried:  # of fixes that overlap, the first is tried first
        together = apart(tried, verdicts.verified)
        if not together:
            verdicts.refused += [(each, _OVERLAPS) for each in tried]
            break
        _try(together, verdicts, trial, say)
        tried = [each for each in tried if each not in together]
    verdicts.refused.sort(key=lambda each: each[0].position)
    return verdicts


def _why_not_tried(before: Run, finding: Finding) -> str:
    if before.lines is None:
        return "did not synchronize in this run"
    lines = before.lines.get(Path(finding.path).as_posix(), ())
    if ran(lines, finding.line, finding.end_line):
        return "its line ran in this run, and did not synchronize"
    return "its line did not run in this run"


def _in_words(run: Run) -> str:
    """Return the outcome of a run in words."""
    outcomes = Counter(run.tests.values())
    tests = "".join(f", {count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"exit status {run.status}{tests}, {plural(run.count, 'synchronization')}"


def _try(findings: list[Finding], verdicts: Verdicts, trial: Trial, say: Callable[[str], None]) -> None:
    if not findings:
        return
    together = [*verdicts.verified, *findings]
    more = plural(len(findings), "more fix", "more fixes")
    say(f"trying {more} with {len(verdicts.verified)} verified")
    run = trial(together)
    blocking = _still_blocking(findings, verdicts, run)
    problem = _problem(verdicts, run, blocking)
    if not problem:
        verdicts.verified, verdicts.after = together, run
    elif len(findings) == 1:
        verdicts.refused.append((findings[0], problem))
    elif problem == _STILL and len(blocking) < len(findings):
        verdicts.refused += [(each, problem) for each in blocking]
        _try([each for each in findings if each not in blocking], verdicts, trial, say)
    else:
        for half in _halves(findings):
            _try(half, verdicts, trial, say)


def _still_blocking(findings: list[Finding], verdicts: Verdicts, run: Run) -> list[Finding]:
    """Return the findings whose lines synchronize as often as before, or more often."""
    assert verdicts.after is not None
    together = [*verdicts.verified, *findings]
    return [
        each
        for each in findings
        if _syncs_at(run, each, together) >= _syncs_at(verdicts.after, each, verdicts.verified)
    ]


def _problem(verdicts: Verdicts, run: Run, blocking: list[Finding]) -> str:
    """Return the reason why a run does not verify its fixes; "" if the run verifies the fixes."""
    assert verdicts.before is not None
    assert verdicts.after is not None
    if difference := _difference(verdicts.before, run):
        return difference
    if blocking:
        return _STILL
    return "" if run.count < verdicts.after.count else "moves the synchronization to another line"


def _halves(findings: list[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Return two halves, between two functions where that is near the middle."""
    middle = len(findings) // 2
    owners = [(each.path, each.function) for each in findings]
    borders = [at for at in range(1, len(findings)) if owners[at] != owners[at - 1]]
    at = min(borders, key=lambda border: abs(border - middle), default=middle)
    return findings[:at], findings[at:]


def _difference(before: Run, after: Run) -> str:
    """Return how outcomes differ; "" where they are the same."""
    for name in sorted(before.tests.keys() | after.tests.keys()):
        was, now = (run.tests.get(name, "not run") for run in (before, after))
        if was != now:
            return (
                f"{name} {was} before and {now} after"
                if was != "passed"
                else f"{name} does not pass any more"
            )
    return f"exit status {after.status} and not {before.status}" if before.status != after.status else ""


def _syncs_at(run: Run, finding: Finding, fixed: Sequence[Finding]) -> int:
    """Return how often the lines of a finding synchronized in a run with fixes, which may have moved them."""
    path = Path(finding.path).as_posix()
    moved = sum(
        edit.text.count("\n") - (edit.end_line - edit.line)
        for other in fixed
        if other.path == finding.path
        for edit in other.fix.edits
        if edit.end_line < finding.line
    )
    own = (
        sum(edit.text.count("\n") - (edit.end_line - edit.line) for edit in finding.fix.edits)
        if finding in fixed
        else 0
    )
    lines = range(finding.line + moved, finding.end_line + moved + own + 1)
    return sum(each.count for each in run.waits if each.path == path and each.line in lines)
