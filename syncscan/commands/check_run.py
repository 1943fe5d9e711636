"""The work of ``syncscan check``: the run, the report and the exit status."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import click

from syncscan.check.baseline import Baseline, read_baseline
from syncscan.check.cache import Store
from syncscan.check.discover import Project, load_project, project_of_text
from syncscan.check.fix import fixable
from syncscan.check.ignores import check_reason, ignoring
from syncscan.check.libraries.reading import Libraries
from syncscan.check.resident import Resident
from syncscan.check.session import MAX_ROUNDS, Checked, Progress, check, check_and_fix, in_cells, write_fixes
from syncscan.check.since import check_change, find_change
from syncscan.commands.check_options import (
    CONTRADICTIONS,
    STDIN,
    CheckOptions,
    files_of,
    refuse_unknown_entry_points,
    settings,
    store_of,
)
from syncscan.commands.parameters import refuse_contradictions
from syncscan.commands.watch import Watched, watch
from syncscan.config import Config, show
from syncscan.errors import EXIT_ERROR, EXIT_FINDINGS, EXIT_INTERRUPTED, EXIT_OK, ConfigError
from syncscan.model import Failure, Finding, Severity
from syncscan.report import statistics
from syncscan.report.formats import render, write
from syncscan.report.progress import ProgressBar
from syncscan.report.records import Report, summary
from syncscan.report.safe_text import safe_line, safe_lines
from syncscan.rule import rule_book
from syncscan.system.files import replace_file
from syncscan.system.git import repository
from syncscan.system.memory import steady_memory
from syncscan.words import noun, plural


def run(options: CheckOptions) -> int:
    """Do what the options of ``syncscan check`` ask for; returns the exit status."""
    refuse_contradictions(options, CONTRADICTIONS)
    config = settings(options)
    if options.show_settings:
        click.echo(show(config))
        return EXIT_OK
    if not any(map(config.selects, rule_book())):
        raise ConfigError("what is selected and ignored leaves no rule on; `syncscan rule` lists them")
    with steady_memory():
        if options.watch:
            status = _watch(options)
        else:
            store = store_of(options)
            with _persisting_last(store):
                status = _run(options, config, time.monotonic(), store)
        gc.freeze()  # the end of the process frees the memory at once; the collector would take seconds
    return status


@contextmanager
def _persisting_last(store: Store | None) -> Iterator[None]:
    """Write the state for the next check after the report.

    Ctrl-C interrupts the write, and nothing else is lost.
    """
    left_early = None
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as error:  # a reader that left early; the next check still needs its state
        left_early = error
    with suppress(KeyboardInterrupt):
        if store is not None:
            store.finish()
    if left_early is not None:
        raise left_early


def _watch(options: CheckOptions) -> int:
    resident, libraries = Resident(), Libraries()

    def read() -> Watched:
        start, config = time.monotonic(), settings(options)
        return Watched(_project(options, config, {}, libraries), config, files_of(options, config), start)

    return watch(read, lambda it: _run(options, it.config, it.start, resident=resident, project=it.project))


def _run(
    options: CheckOptions,
    config: Config,
    start: float,
    store: Store | None = None,
    resident: Resident | None = None,
    project: Project | None = None,
) -> int:
    """Check, report, write files, and return the exit status; ``start`` is a time of the monotonic clock."""
    baseline = _baseline(options, config)
    contents = _contents(options)
    project = project or _project(options, config, contents, Libraries(store))
    if not project.sources and not project.failures and not project.skipped:
        _say(f"no Python files in {', '.join(list(map(str, contents)) or options.paths or ('.',))}")
    refuse_unknown_entry_points(options, config, project)
    outcome = _analyse(options, config, project, contents, baseline, store, resident)
    if options.writes:
        outcome = _write(options, config, project, contents, outcome, baseline)
    if options.write_baseline:
        outcome = _write_baseline(outcome, options.write_baseline)
    outcome = in_cells(outcome, project)
    report = Report(
        findings=outcome.findings,
        left_out=outcome.left_out,
        facts=outcome.facts,
        refuted=outcome.refuted,
        shows_all=config.shows_all,
        suppressed=outcome.suppressed,
        known=outcome.known,
        gone=outcome.gone,
        failures=outcome.failures,
        newer=outcome.newer,
        checked=outcome.checked,
        packages=project.package_names,
        is_cut=project.is_cut,
        skipped=project.skipped,
        fixed=outcome.fixed,
        ignored=options.add_ignores,
        unfixed=outcome.unfixed,
        seconds=time.monotonic() - start,
        texts=outcome.texts,
        fails_on=Severity[options.fail_on.upper()],
        is_quiet=options.quiet,
        color=_COLORS[options.color],
        **_place_in_repository(),
    )
    for name, file in options.outputs:
        write(name or options.output_format, report, file)
    if options.traces:
        from syncscan.commands.compare import show as show_compared  # noqa: PLC0415 (which traces alone need)

        show_compared(report.findings, options.traces, options.output_format)
    elif all(name for name, _ in options.outputs):
        _show(options, config, report, outcome)
    return _exit_status(options, report)


_COLORS = {"auto": None, "always": True, "never": False}


def _place_in_repository() -> dict[str, str]:
    here = Path.cwd().resolve()
    top = repository(here) or here
    return {"top": top.as_posix(), "folder": here.relative_to(top).as_posix()}


def _baseline(options: CheckOptions, config: Config) -> Baseline | None:
    """Return the baseline; where a baseline is to be written, return its former state."""
    if options.write_baseline:
        file = options.write_baseline
        return read_baseline(file) if file.exists() else Baseline(file, {})
    return read_baseline(config.baseline) if config.baseline else None


def _write_baseline(outcome: Checked, file: Path) -> Checked:
    """Write the findings into the baseline, which then covers them."""
    assert outcome.baseline is not None
    replace_file(file, outcome.baseline.text())
    new = f"{len(outcome.findings) or 'none'} added"
    _say(f"{file} has {plural(outcome.baseline.total, 'finding')}: {new}, {outcome.gone} removed")
    return replace(outcome, findings=(), known=(*outcome.known, *outcome.findings), gone=0)


def _analyse(
    options: CheckOptions,
    config: Config,
    project: Project,
    contents: dict[Path, bytes],
    baseline: Baseline | None,
    store: Store | None,
    resident: Resident | None,
) -> Checked:
    bar = ProgressBar(sys.stderr, is_quiet=options.quiet)
    with bar, _ending_at_once(bar, EXIT_OK if options.watch else EXIT_INTERRUPTED):

        def check_now(store: Store | None) -> Checked:
            return check(project, config, bar, options.jobs, baseline, store, resident)

        if options.since:
            return _check_since(options.since, options, config, bar, store, check_now)
        if not options.writes and not options.diff:
            return check_now(store)
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
            store=store,
        )


def _check_since(
    revision: str,
    options: CheckOptions,
    config: Config,
    progress: Progress,
    store: Store | None,
    check_now: Callable[[Store], Checked],
) -> Checked:
    paths = [Path(path) for path in options.paths or (".",)]
    change = find_change(_folder_of(paths[0]), revision)
    if not change.files:
        _say(f"no Python file changed since {revision}")
        return Checked((), (), (), 0, {})
    return check_change(change, paths, config, progress, options.jobs, store, check_now)


def _folder_of(path: Path) -> Path:
    path = path.resolve()
    return path if path.is_dir() else path.parent


def _chosen(options: CheckOptions) -> Callable[[Checked], list[Finding]]:
    """Return a function that selects the findings to edit: with fixes, or with comments."""
    if options.reason is None:
        return lambda outcome: fixable(outcome.findings, unsafe=options.unsafe_fixes)
    try:
        reason = check_reason(options.reason)
    except ValueError as error:
        raise ConfigError(f"--reason: {error}") from error
    return lambda outcome: ignoring(outcome.findings, outcome.texts, reason)


@contextmanager
def _ending_at_once(bar: ProgressBar, status: int) -> Iterator[None]:
    """Let Ctrl-C end the process at once: to unwind and free a large project takes seconds.

    No file is half written, because no write has started yet.
    """

    def end(*_: object) -> None:
        bar.stop()
        if status:
            _say("interrupted")
        os._exit(status)

    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.default_int_handler:  # and not ignored, as under nohup
        signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _contents(options: CheckOptions) -> dict[Path, bytes]:
    """Return the content that replaces a file: standard input, under the real path of its file."""
    if options.paths != (STDIN,):
        return {}
    data = sys.stdin.buffer.read()
    return {Path(options.stdin_filename or "<stdin>").resolve(): data}


def _project(
    options: CheckOptions, config: Config, contents: dict[Path, bytes], libraries: Libraries
) -> Project:
    if contents and not options.stdin_filename:
        return project_of_text(*next(iter(contents.items())))
    paths = list(contents) or [Path(path) for path in options.paths or (".",)]
    project = libraries.added_to(load_project(paths, config, contents), config)
    if options.shard:
        project = project.share(*options.shard)
    return project


def _write(
    options: CheckOptions,
    config: Config,
    project: Project,
    contents: dict[Path, bytes],
    outcome: Checked,
    baseline: Baseline | None,
) -> Checked:
    """Write the fixed files; write fixed standard input to standard output."""
    if not contents:
        with ProgressBar(sys.stderr, is_quiet=options.quiet) as bar:
            return write_fixes(outcome, project, config, bar, options.jobs, baseline)
    (data,) = contents.values()
    (fixed,) = (draft.content(draft.after) for draft in outcome.drafts) if outcome.drafts else (data,)
    sys.stdout.buffer.write(fixed)
    return outcome


def _show(options: CheckOptions, config: Config, report: Report, outcome: Checked) -> None:
    stream = sys.stderr if options.paths == (STDIN,) and options.writes else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # sources may hold what the terminal cannot show
    if options.diff:
        for draft in outcome.drafts:  # in a pipe exactly, as `git apply` needs it
            stream.write(safe_lines(draft.diff()) if stream.isatty() else draft.diff())
    elif options.statistics:
        statistics.render(report, stream)
    else:
        render(options.output_format, report, stream)
    if options.output_format == "github":
        _add_to_summary(report)
    if options.output_format in {"text", "concise"}:
        _say_what_is_wrong(options, config, report)
    if options.diff and not options.quiet:
        _say_what_diff_shows(report, len(outcome.drafts))


def _say_what_is_wrong(options: CheckOptions, config: Config, report: Report) -> None:
    say_failures((*report.failures, *report.unfixed), () if options.quiet else report.newer)
    if report.gone and not options.quiet:
        _say_what_is_gone(report, config)


def say_failures(failures: Iterable[Failure], newer: Iterable[Failure]) -> None:
    """Print a line for each file that could not be analysed, the files for a newer Python first."""
    for failure in newer:
        _say(f"warning: {failure.place}: {failure.message}")
    for failure in failures:
        _say(f"{failure.place}: {failure.message}")


def _say_what_diff_shows(report: Report, files: int) -> None:
    if report.fixed:
        fixes = plural(report.fixed, "fix", "fixes")
        if report.ignored:
            fixes = f"comments for {plural(report.fixed, 'finding')}"
        _say(f"{fixes} in {plural(files, 'file')} shown, nothing written")
    elif report.findings:
        _say(f"no fix to show: {summary(report)}")


def _say_what_is_gone(report: Report, config: Config) -> None:
    _say(
        f"{plural(report.gone, 'finding')} of {config.baseline} {noun(report.gone, 'is', 'are')} gone; "
        f"--write-baseline {config.baseline} removes {noun(report.gone, 'the entry', 'the entries')}"
    )


def _say(line: str) -> None:
    click.echo(safe_line(f"syncscan: {line}"), err=True)


def _add_to_summary(report: Report) -> None:
    """Append to the summary of a GitHub job, where one exists."""
    from syncscan.report.github import render_summary  # noqa: PLC0415 (only this format needs it)

    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as stream:
                render_summary(report, stream)
        except OSError as error:
            _say(f"warning: no summary: {file}: {error.strerror}")


def _exit_status(options: CheckOptions, report: Report) -> int:
    if report.failures or report.unfixed:
        return EXIT_ERROR
    fails = any(finding.severity >= report.fails_on for finding in report.findings)
    found = fails or (options.diff and report.fixed)
    return EXIT_FINDINGS if found and not options.exit_zero else EXIT_OK
