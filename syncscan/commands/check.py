"""``syncscan check``: the options, the run, the report and the exit status."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from syncscan.check.baseline import Baseline, read_baseline
from syncscan.check.discover import Project, load_project, project_of_text
from syncscan.check.fix import fixable
from syncscan.check.ignores import check_reason, ignoring
from syncscan.check.memory import steady_memory
from syncscan.check.session import MAX_ROUNDS, Outcome, check, check_and_fix, in_cells, write_fixes
from syncscan.commands import parameters
from syncscan.config import Config, find_config, load_config, parse_codes, parse_confidence, show
from syncscan.errors import EXIT_ERROR, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK, ConfigError
from syncscan.files import replace_file
from syncscan.git import repository
from syncscan.model import Finding, Severity
from syncscan.report import statistics
from syncscan.report.formats import FORMATS, render, write
from syncscan.report.progress import ProgressBar
from syncscan.report.records import Report, plural, summary
from syncscan.report.safe_text import safe_line, safe_lines
from syncscan.rule import rule_book

STDIN = "-"

EPILOG = """\b
Examples:
  syncscan check                             the current folder
  syncscan check src/ --select SYN1,SYN205   some rules only
  syncscan check src/ --unsafe-fixes --diff  what fixes would change
  syncscan check - --stdin-filename a/b.py   an editor's buffer

\b
Exit status: 0 no findings; 1 findings; 2 a wrong option or setting, or a
file that could not be analysed or fixed; 130 interrupted."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line as given."""

    paths: tuple[str, ...]
    stdin_filename: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    min_confidence: str | None
    hot_only: bool
    output_format: str
    outputs: tuple[tuple[str, Path], ...]
    fail_on: str
    fix: bool
    unsafe_fixes: bool
    add_ignores: bool
    reason: str | None
    diff: bool
    baseline: Path | None
    write_baseline: Path | None
    statistics: bool
    exit_zero: bool
    config: str | None
    isolated: bool
    show_settings: bool
    jobs: int

    @property
    def writes(self) -> bool:
        """Whether sources are written."""
        return (self.fix or self.unsafe_fixes or self.add_ignores) and not self.diff


@click.command("check", epilog=EPILOG, short_help="Find the lines that make the CPU wait for the GPU.")
@click.argument("paths", nargs=-1, type=parameters.text)
@click.option(
    "--stdin-filename",
    type=parameters.text,
    metavar="PATH",
    help="The path of the file that PATHS = - reads.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    help="Report only these codes or prefixes; sets aside all configured choices of codes.",
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not report these codes or prefixes.")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Report these codes or prefixes too.")
@click.option(
    "--min-confidence",
    type=parameters.text,
    metavar="LEVEL",
    help="Report from this confidence on: assumed, inferred or proved.",
)
@click.option(
    "--hot-only", is_flag=True, help="Report only what runs in every step; see `hot` in the settings."
)
@click.option(
    "--format", "output_format", type=click.Choice(list(FORMATS)), default="text", show_default=True
)
@click.option(
    "--output",
    "outputs",
    type=parameters.output,
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write the report to a file too, such as sarif=syncscan.sarif; may be repeated.",
)
@click.option(
    "--fail-on",
    type=click.Choice([level.label for level in Severity]),
    default=Severity.NOTE.label,
    show_default=True,
    help="Exit with status 1 for findings from this severity on.",
)
@click.option("--fix", is_flag=True, help="Apply the fixes that never change a result.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply also the fixes whose rule names a condition.")
@click.option(
    "--add-ignores", is_flag=True, help="Write a comment that ignores it at each finding; needs --reason."
)
@click.option(
    "--reason", type=parameters.text, metavar="TEXT", help="Why the waits are meant, for --add-ignores."
)
@click.option("--diff", is_flag=True, help="Show what the fixes would change, and write nothing.")
@click.option("--baseline", type=parameters.path, metavar="FILE", help="Do not report what this file knows.")
@click.option(
    "--write-baseline",
    type=parameters.path,
    metavar="FILE",
    help="Write what is found to this file, which then knows it; forget what is gone.",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 in spite of findings.")
@click.option("--config", type=parameters.text, metavar="FILE", help="Take the settings from this TOML file.")
@click.option("--isolated", is_flag=True, help="Ignore every configuration file.")
@click.option("--show-settings", is_flag=True, help="Show the settings that apply, and check nothing.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=0), default=0, metavar="N", help="Worker processes; 0 chooses."
)
def command(**values: object) -> int:
    """Find the lines of PATHS that make the CPU wait for the GPU, without running them.

    PATHS are files and folders, or - for standard input; the current folder by default. The project
    around a file is read too, because it says where the file's tensors live.
    """
    options = Options(**values)  # type: ignore[arg-type]
    _refuse_contradictions(options)
    _refuse_contradicting_writes(options)
    config = _config(options)
    if options.show_settings:
        click.echo(show(config))
        return EXIT_OK
    if not any(map(config.selects, rule_book())):
        raise ConfigError("what is selected and ignored leaves no rule on; `syncscan rules` lists them")
    with steady_memory():
        status = _run(options, config)
        gc.freeze()  # the end of the process frees the memory at once; the collector would take seconds
    return status


def _refuse_contradictions(options: Options) -> None:
    if STDIN in options.paths and len(options.paths) > 1:
        raise ConfigError("- reads standard input, so it is the only path")
    if options.stdin_filename and options.paths != (STDIN,):
        raise ConfigError("--stdin-filename needs - as the path")
    if options.config and options.isolated:
        raise ConfigError("--config names a file and --isolated ignores it; give one of them")
    if options.output_format != "text" and (options.statistics or options.diff):
        option = "--statistics" if options.statistics else "--diff"
        raise ConfigError(f"{option} is text; leave --format {options.output_format} out")
    if options.diff and options.statistics:
        raise ConfigError("--diff shows the fixes and --statistics counts the findings; give one of them")


def _refuse_contradicting_writes(options: Options) -> None:
    if options.add_ignores and (options.fix or options.unsafe_fixes):
        raise ConfigError("--add-ignores keeps what fixes change; give one of them at a time")
    if options.add_ignores and options.reason is None:
        raise ConfigError("--add-ignores needs --reason TEXT, which each comment gives")
    if options.reason is not None and not options.add_ignores:
        raise ConfigError("--reason is for the comments that --add-ignores writes")
    if options.baseline and options.write_baseline:
        raise ConfigError("--baseline reads a file and --write-baseline writes one; give one of them")
    if options.write_baseline and (options.writes or options.diff or STDIN in options.paths):
        raise ConfigError("--write-baseline takes the files as they are; leave fixes and - out")


def _config(options: Options) -> Config:
    if options.isolated:
        config = Config(root=Path.cwd())
    elif options.config:
        config = load_config(Path(options.config))
    else:
        config = find_config(_common_folder(options))
    if options.select:
        config = replace(config, select=_codes(options.select, "--select"), ignore=(), extend_select=())
    confidence = config.min_confidence
    if options.min_confidence:
        try:
            confidence = parse_confidence(options.min_confidence)
        except ValueError as error:
            raise ConfigError(f"--min-confidence: {error}") from error
    return replace(
        config,
        ignore=config.ignore + _codes(options.ignore, "--ignore"),
        extend_select=config.extend_select + _codes(options.extend_select, "--extend-select"),
        min_confidence=confidence,
        hot_only=config.hot_only or options.hot_only,
        baseline=options.baseline or config.baseline,
    )


def _codes(values: tuple[str, ...], option: str) -> tuple[str, ...]:
    try:
        return parse_codes([code for value in values for code in value.split(",")])
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error


def _common_folder(options: Options) -> Path:
    """The folder from which the nearest configuration is looked for."""
    names = [options.stdin_filename or "."] if options.paths == (STDIN,) else options.paths or (".",)
    folders = [path if path.is_dir() else path.parent for path in (Path(name).absolute() for name in names)]
    try:
        return Path(os.path.commonpath(folders)).resolve()
    except ValueError:  # on two drives of Windows
        return Path.cwd()


def _run(options: Options, config: Config) -> int:
    start = time.monotonic()
    baseline = _baseline(options, config)
    contents = _contents(options)
    project = _project(options, config, contents)
    outcome = _analyse(options, config, project, contents, baseline)
    if options.writes:
        outcome = _write(options, config, project, contents, outcome, baseline)
    if options.write_baseline:
        outcome = _write_baseline(outcome, options.write_baseline)
    outcome = in_cells(outcome, project)
    report = Report(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        known=outcome.known,
        gone=outcome.gone,
        failures=outcome.failures,
        newer=outcome.newer,
        checked=outcome.checked,
        skipped=project.skipped,
        fixed=outcome.fixed,
        ignored=options.add_ignores,
        unfixed=outcome.unfixed,
        seconds=time.monotonic() - start,
        texts=outcome.texts,
        fails_on=Severity[options.fail_on.upper()],
        **_place_in_repository(),
    )
    for name, file in options.outputs:
        write(name, report, file)
    _show(options, config, report, outcome)
    return _exit_status(options, report)


def _place_in_repository() -> dict[str, str]:
    here = Path.cwd().resolve()
    top = repository(here) or here
    return {"top": top.as_posix(), "folder": here.relative_to(top).as_posix()}


def _baseline(options: Options, config: Config) -> Baseline | None:
    """What is known already; where it is to be written, what was known before."""
    if options.write_baseline:
        file = options.write_baseline
        return read_baseline(file) if file.exists() else Baseline(file, {})
    return read_baseline(config.baseline) if config.baseline else None


def _write_baseline(outcome: Outcome, file: Path) -> Outcome:
    """Write what was found; from now on it is known."""
    assert outcome.baseline is not None
    replace_file(file, outcome.baseline.text())
    new = f"{len(outcome.findings)} new" if outcome.findings else "none new"
    _say(f"{file} knows {plural(outcome.baseline.total, 'finding')}: {new}, {outcome.gone} gone")
    return replace(outcome, findings=(), known=(*outcome.known, *outcome.findings), gone=0)


def _analyse(
    options: Options, config: Config, project: Project, contents: dict[Path, bytes], baseline: Baseline | None
) -> Outcome:
    with ProgressBar(sys.stderr) as bar, _ending_at_once(bar):
        if not options.writes and not options.diff:
            return check(project, config, bar, options.jobs, baseline)
        rounds = 1 if options.add_ignores else MAX_ROUNDS
        chosen = _chosen(options)
        return check_and_fix(
            project,
            config,
            bar,
            options.jobs,
            chosen=chosen,
            contents=contents,
            rounds=rounds,
            baseline=baseline,
        )


def _chosen(options: Options) -> Callable[[Outcome], list[Finding]]:
    """Chooses the findings that get edits: their fixes, or comments."""
    if options.reason is None:
        return lambda outcome: fixable(outcome.findings, unsafe=options.unsafe_fixes)
    try:
        reason = check_reason(options.reason)
    except ValueError as error:
        raise ConfigError(f"--reason: {error}") from error
    return lambda outcome: ignoring(outcome.findings, outcome.texts, reason)


@contextmanager
def _ending_at_once(bar: ProgressBar) -> Iterator[None]:
    """Let Ctrl-C end the process on the spot: to unwind and free a large project takes seconds.

    Nothing has been written yet, so nothing is left half done.
    """

    def end(*_: object) -> None:
        bar.stop()
        _say("interrupted")
        os._exit(EXIT_INTERRUPTED)

    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.default_int_handler:  # and not ignored, as under nohup
        signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _contents(options: Options) -> dict[Path, bytes]:
    """What stands in for a file: standard input, under the real path of the file that it is."""
    if options.paths != (STDIN,):
        return {}
    data = sys.stdin.buffer.read()
    return {Path(options.stdin_filename or "<stdin>").resolve(): data}


def _project(options: Options, config: Config, contents: dict[Path, bytes]) -> Project:
    if contents and not options.stdin_filename:
        return project_of_text(*next(iter(contents.items())))
    paths = list(contents) or [Path(path) for path in options.paths or (".",)]
    project = load_project(paths, config, contents)
    if not project.sources and not project.failures and not project.skipped:
        _say(f"no Python files in {', '.join(map(str, paths))}")
    return project


def _write(
    options: Options,
    config: Config,
    project: Project,
    contents: dict[Path, bytes],
    outcome: Outcome,
    baseline: Baseline | None,
) -> Outcome:
    """Write the fixed files; what was read from standard input goes, fixed, to standard output."""
    if not contents:
        with ProgressBar(sys.stderr) as bar:
            return write_fixes(outcome, project, config, bar, options.jobs, baseline)
    (data,) = contents.values()
    (fixed,) = (draft.content(draft.after) for draft in outcome.drafts) if outcome.drafts else (data,)
    sys.stdout.buffer.write(fixed)
    return outcome


def _show(options: Options, config: Config, report: Report, outcome: Outcome) -> None:
    stream = sys.stderr if options.paths == (STDIN,) and options.writes else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a source may hold what the terminal cannot show
    if options.diff:
        for draft in outcome.drafts:  # in a pipe exactly, as `git apply` needs it
            stream.write(safe_lines(draft.diff()) if stream.isatty() else draft.diff())
    elif options.statistics:
        statistics.render(report, stream)
    else:
        render(options.output_format, report, stream)
    if options.output_format == "github":
        _add_to_summary(report)
    if options.output_format == "text":
        for failure in report.newer:
            _say(f"warning: {failure.place}: {failure.message}")
        for failure in (*report.failures, *report.unfixed):
            _say(f"{failure.place}: {failure.message}")
        if report.gone:
            _say_what_is_gone(report, config)
    if options.diff:
        _say_what_diff_shows(report, len(outcome.drafts))


def _say_what_diff_shows(report: Report, files: int) -> None:
    if report.fixed:
        fixes = plural(report.fixed, "fix", "fixes")
        if report.ignored:
            fixes = f"comments for {plural(report.fixed, 'finding')}"
        _say(f"{fixes} in {plural(files, 'file')} shown, nothing written")
    elif report.findings:
        _say(f"no fix to show: {summary(report)}")


def _say_what_is_gone(report: Report, config: Config) -> None:
    are = "is" if report.gone == 1 else "are"
    _say(
        f"{plural(report.gone, 'finding')} that {config.baseline} knows {are} gone; "
        f"--write-baseline {config.baseline} forgets {'it' if report.gone == 1 else 'them'}"
    )


def _say(line: str) -> None:
    click.echo(safe_line(f"syncscan: {line}"), err=True)


def _add_to_summary(report: Report) -> None:
    """Append to the summary of a job of GitHub's, where there is one."""
    from syncscan.report.github import render_summary  # noqa: PLC0415 (only this format needs it)

    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as stream:
                render_summary(report, stream)
        except OSError as error:
            _say(f"warning: no summary: {file}: {error.strerror}")


def _exit_status(options: Options, report: Report) -> int:
    if report.failures or report.unfixed:
        return EXIT_ERROR
    fails = any(finding.severity >= report.fails_on for finding in report.findings)
    found = fails or (options.diff and report.fixed)
    return EXIT_FINDINGS if found and not options.exit_zero else EXIT_OK
