"""The work of ``syncscan fix``: the search for verified fixes, and the files that are written."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from syncscan.check.cache import default_folder
from syncscan.check.discover import Project, load_project
from syncscan.check.files import SourceError, read_bytes
from syncscan.check.fix import Draft, fixable
from syncscan.check.libraries.reading import Libraries
from syncscan.check.session import Checked, check, in_cells
from syncscan.commands.check_run import say_failures
from syncscan.config import Config, find_config
from syncscan.errors import EXIT_ERROR, EXIT_OK, SyncscanError
from syncscan.model import Finding, When
from syncscan.report import verified_text
from syncscan.report.progress import ProgressBar
from syncscan.report.safe_text import safe_line
from syncscan.verify.run import Run, TracedCommand
from syncscan.verify.scratch import Scratch
from syncscan.verify.search import Kept, search
from syncscan.words import plural


def run(paths: tuple[str, ...], runner: TracedCommand, *, diff: bool, all_: bool, restart: bool) -> int:
    """Search for fixes that COMMAND verifies, write or show the fixes, and return the exit status."""
    root = Path.cwd().resolve()
    config = find_config(root)
    if all_:
        config = replace(config, when=tuple(When))
    project = Libraries().added_to(load_project([Path(path) for path in paths or (".",)], config), config)
    outcome = _checked(project, config)
    said = in_cells(outcome, project)
    say_failures(said.failures, said.newer)
    if outcome.failures and not outcome.checked:
        return EXIT_ERROR
    findings = fixable(outcome.findings, unsafe=True)
    drafts = _Drafts(project, root)
    with tempfile.TemporaryDirectory(prefix="syncscan-") as folder:
        scratch = Scratch(Path(folder) / root.name, root)
        kept = Kept(_file_of_runs(scratch, runner, restart=restart))

        def trial(chosen: Sequence[Finding]) -> Run:
            contents = drafts.contents(chosen)

            def make() -> Run:
                scratch.write(contents)
                made = runner.run(scratch)
                if (
                    made.untraced and not chosen
                ):  # no later run would show that a line synchronizes less often
                    failed = f"; the command ended with exit status {made.status}"
                    raise SyncscanError(f"nothing was traced: {made.untraced}{failed if made.status else ''}")
                return made

            return kept.run(contents, make)

        verdicts = search(findings, trial, _say)
    _say(plural(kept.made, "run"))
    assert verdicts.before is not None
    assert verdicts.after is not None
    verified_text.render(verdicts.verified, verdicts.refused, verdicts.before, verdicts.after, sys.stdout)
    status = drafts.finish(verdicts.verified, diff=diff)
    return EXIT_ERROR if outcome.failures else status


def _checked(project: Project, config: Config) -> Checked:
    with ProgressBar(sys.stderr) as bar:
        return check(project, config, bar, 0)


def _file_of_runs(scratch: Scratch, runner: TracedCommand, *, restart: bool) -> Path | None:
    folder = default_folder()
    if folder is None:
        return None
    key = hashlib.sha256(repr((str(scratch.original), scratch.digest(), runner)).encode()).hexdigest()[:32]
    file = folder / "fix" / f"{key}.json"
    if restart:
        file.unlink(missing_ok=True)
    return file


class _Drafts:
    """The files of the project that have fixes, in their present state and with some of the fixes."""

    def __init__(self, project: Project, root: Path) -> None:
        self._sources = {source.shown: source for source in project.sources}
        self._root = root
        self._all: set[str] = set()

    def _draft(self, shown: str, chosen: Sequence[Finding]) -> Draft:
        source = self._sources[shown]
        draft = Draft.of(source, read_bytes(source.path))
        failures = list(draft.apply(chosen)) if chosen else []
        if failures:
            raise SourceError(failures[0].message)
        return draft

    def contents(self, chosen: Sequence[Finding]) -> Mapping[Path, bytes]:
        """Return every file that some trial changed, with the chosen fixes only."""
        self._all |= {finding.path for finding in chosen}
        found = {}
        for shown in sorted(self._all):
            draft = self._draft(shown, [finding for finding in chosen if finding.path == shown])
            found[draft.source.path] = draft.content(draft.after)
        return found

    def finish(self, verified: Sequence[Finding], *, diff: bool) -> int:
        """Write the files with the verified fixes, or show the difference; return the exit status."""
        status = EXIT_OK
        for shown in sorted({finding.path for finding in verified}):
            try:
                draft = self._draft(shown, [finding for finding in verified if finding.path == shown])
                if diff:
                    sys.stdout.write(draft.diff())
                else:
                    draft.write()
            except SourceError as error:
                _say(f"{shown}: {error}")
                status = EXIT_ERROR
        return status


def _say(line: str) -> None:
    click.echo(safe_line(f"syncscan: {line}"), err=True)
