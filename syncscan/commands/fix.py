"""``syncscan fix``: try fixes on a command, and apply those that hold."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from syncscan.check.discover import Project, load_project
from syncscan.check.files import SourceError, read_bytes
from syncscan.check.fix import Draft, fixable
from syncscan.check.session import check
from syncscan.check.store import default_folder
from syncscan.commands import parameters
from syncscan.config import Config, find_config
from syncscan.errors import EXIT_ERROR, EXIT_OK, ConfigError
from syncscan.model import Finding, When
from syncscan.report import verified_text
from syncscan.report.progress import ProgressBar
from syncscan.report.safe_text import safe_line
from syncscan.verify.run import Command, Run, compared
from syncscan.verify.scratch import Scratch
from syncscan.verify.search import Kept, search

EPILOG = """\b
Examples:
  syncscan fix src/ --verify -- pytest tests/       on a simulated GPU
  syncscan fix src/ --verify --gpu -- python train.py
  syncscan fix src/ --verify --diff -- pytest -x    show, and write nothing

\b
Exit status: 0 the fixes that hold were applied; 2 a wrong option or setting,
a file that could not be written, or a command that could not be traced."""
_COMMAND = "syncscan.fix.command"


class _WithCommand(click.Command):
    """Takes what stands behind ``--`` for the command, before click drops that sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before it."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Name the command in the line of usage."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND"]


@click.command("fix", cls=_WithCommand, epilog=EPILOG)
@click.argument("paths", nargs=-1, type=parameters.text)
@click.option("--verify", is_flag=True, help="Try each fix on COMMAND; needed, as nothing else is safe.")
@click.option(
    "--gpu", is_flag=True, help="Run COMMAND on the GPU of this machine, and not on a simulated one."
)
@click.option(
    "--step", default="", metavar="PKG.MOD:CLASS.METHOD", help="The function whose calls are the steps."
)
@click.option("--diff", is_flag=True, help="Show what the verified fixes change, and write nothing.")
@click.option(
    "--all", "all_", is_flag=True, help="Try also fixes of what only runs once, or in tests and examples."
)
@click.option("--restart", is_flag=True, help="Forget the runs of an earlier search for the same command.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    verify: bool,
    gpu: bool,
    step: str,
    diff: bool,
    all_: bool,
    restart: bool,
) -> int:
    """Apply the fixes in PATHS that a run of COMMAND verifies.

    COMMAND runs in a copy of the current folder, once without fixes and then with them. A fix is
    verified where its line synchronized before and does so less often after, and where the exit status and, of
    pytest, the outcome of each test stay what they were. Files are written when the search is over.
    """
    words = ctx.meta[_COMMAND]
    if not verify:
        raise ConfigError(
            "fix tries what it applies: give --verify; `syncscan check --fix` applies safe fixes untried"
        )
    if not words:
        raise ConfigError("--verify needs a command behind --, such as `-- pytest tests/`")
    root = Path.cwd().resolve()
    config = find_config(root)
    if all_:
        config = replace(config, when=tuple(When))
    project = load_project([Path(path) for path in paths or (".",)], config, {})
    findings = _findings(project, config)
    drafts = _Drafts(project, root)
    with tempfile.TemporaryDirectory(prefix="syncscan-") as folder:
        scratch = Scratch(Path(folder) / root.name, root)
        runner = Command(words, gpu, step)
        kept = Kept(_file_of_runs(scratch, runner, restart=restart))

        def trial(chosen: Sequence[Finding]) -> Run:
            contents = drafts.contents(chosen)

            def make() -> Run:
                scratch.write(contents)
                return runner.run(scratch)

            return kept.run(contents, make)

        verdicts = search(findings, trial, _say)
    _say(f"{kept.made} runs")
    assert verdicts.before is not None
    assert verdicts.after is not None
    verified_text.render(
        verdicts.verified, verdicts.refused, compared(verdicts.before, verdicts.after), sys.stdout
    )
    return drafts.finish(verdicts.verified, diff=diff)


def _findings(project: Project, config: Config) -> list[Finding]:
    with ProgressBar(sys.stderr) as bar:
        return fixable(check(project, config, bar, 0).findings, unsafe=True)


def _file_of_runs(scratch: Scratch, runner: Command, *, restart: bool) -> Path | None:
    folder = default_folder()
    if folder is None:
        return None
    key = hashlib.sha256(repr((str(scratch.original), scratch.digest(), runner)).encode()).hexdigest()[:32]
    file = folder / "fix" / f"{key}.json"
    if restart:
        file.unlink(missing_ok=True)
    return file


class _Drafts:
    """The files of the project that have fixes, as they are and with some of the fixes."""

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
        """Write the files with the verified fixes, or show the difference; the exit status."""
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
