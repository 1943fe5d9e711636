"""The work of ``syncscan trace``: the run, the report and the exit status."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from syncscan.commands.exit_handling import tell
from syncscan.commands.interim import FLUSHED_SECONDS, Interim
from syncscan.commands.observed import FactRecording
from syncscan.commands.parameters import refuse_contradictions
from syncscan.commands.running import run as run_command
from syncscan.commands.trace_options import CONTRADICTIONS, TraceOptions
from syncscan.commands.trace_report import show
from syncscan.config import Config, find_config
from syncscan.errors import EXIT_FINDINGS, EXIT_OK, ConfigError, SyncscanError
from syncscan.ops import OperationTable
from syncscan.report.limits import broken_limits
from syncscan.trace import launch
from syncscan.trace.front import Front, step_behind
from syncscan.trace.interpreter import python_version
from syncscan.trace.launch import Launched
from syncscan.trace.merge import Trace
from syncscan.trace.sites import Blame
from syncscan.trace.store import read_parts
from syncscan.trace.trace import build


def run(options: TraceOptions) -> int:
    """Do what the options of ``syncscan trace`` ask for; returns the exit status."""
    refuse_contradictions(options, CONTRADICTIONS)
    config = find_config(Path.cwd())
    table = config.table()
    if options.lines or options.calls:
        _say_if_too_old(options.command[0], "--calls" if options.calls else "--lines")
    facts = _facts(options, config)
    front = step_behind()
    folder = _made(options.output)
    try:
        with _held(folder, options.output):
            return _run(options, _prepare(folder, options.output), front, table, facts)
    finally:
        if options.output is None:
            shutil.rmtree(folder, ignore_errors=True)


def _run(
    options: TraceOptions, parts: Path, front: Front, table: OperationTable, facts: FactRecording | None
) -> int:
    blame = Blame(options.include, options.exclude, str(Path.cwd()))

    def make(launched: Launched) -> Trace:
        return build(options.command, launched, parts, blame, options.warmup, table)

    def report(launched: Launched) -> int:
        interim.end()
        trace = make(launched)
        limits = (options.max_syncs_per_step, options.max_blocked_ms_per_step)
        broken = broken_limits(trace, *limits, Path.cwd())
        with _told():  # a broken limit counts also where nothing can be written
            show(trace, options.output_format, options.output, broken, again=interim.reported)
        if facts is not None:
            with _told():
                facts.write(read_parts(parts).processes, launched.status)
        return EXIT_FINDINGS if broken else EXIT_OK

    window = _window(options.start_after, options.seconds)
    interim = Interim(
        make,
        lambda trace: show(trace, options.output_format, options.output, [], early=True),
        live=options.live,
        report_at=window["ends_ns"] / 1e9 + FLUSHED_SECONDS if "ends_ns" in window else None,
    )
    hook_options = options.for_hook() | {name: str(value) for name, value in window.items()}
    if facts is not None:
        hook_options |= facts.for_hook()
    during = interim if options.live or options.seconds is not None else None
    return run_command(
        options.command, parts, hook_options, front, report, table if options.simulate else None, during
    )


def _facts(options: TraceOptions, config: Config) -> FactRecording | None:
    """Return the facts that the run is to record, if any; their file may lie in the folder of the trace."""
    if options.facts is None:
        return None
    if options.output is not None and options.facts.absolute() == _made(options.output) / "trace.json":
        raise ConfigError(f"--facts {options.facts}: is the trace itself; name another file")
    return FactRecording(config.root, options.facts, options.packages)


@contextmanager
def _told() -> Iterator[None]:
    """Say what cannot be written, and go on."""
    try:
        yield
    except OSError as error:
        tell(error)


def _say_if_too_old(program: str, option: str) -> None:
    """Warn that nothing will be recorded for an option, while there is still time to choose another Python."""
    version = python_version(program)
    if version is not None and version < (3, 12):
        found = ".".join(map(str, version))
        click.echo(
            f"syncscan: {option} needs Python 3.12 or newer: {program} runs {found}, so no lines are recorded",
            err=True,
        )


def _window(start_after: float | None, seconds: float | None) -> dict[str, int]:
    """Return the begin and end of the trace, in nanoseconds of the clock that all processes share."""
    now = time.monotonic_ns()
    begins = now + round((start_after or 0) * 1e9)
    window = {} if start_after is None else {"begins_ns": begins}
    return window if seconds is None else window | {"ends_ns": begins + round(seconds * 1e9)}


def _made(output: Path | None) -> Path:
    """Return the folder of the trace, which exists from now on."""
    try:
        if output is None:
            return Path(tempfile.mkdtemp(prefix="syncscan-"))
        output.absolute().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(output, error) from None
    return output.absolute()


@contextmanager
def _held(folder: Path, output: Path | None) -> Iterator[None]:
    """Hold the folder of a trace: another trace would remove what this one writes.

    The lock ends with the process. A file system without locks holds nothing.
    """
    try:
        holder = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(output, error) from None
    try:
        with suppress(OSError):
            try:
                fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SyncscanError(f"{output}: another trace writes there; name another folder") from None
        yield
    finally:
        os.close(holder)


def _prepare(folder: Path, output: Path | None) -> Path:
    """Return the folder for the processes' files, without an earlier trace."""
    parts, trace = folder / "parts", folder / "trace.json"
    try:
        if launch.remove_parts(parts):
            trace.unlink(missing_ok=True)
        elif others := [path.name for path in (parts, trace) if path.exists()]:
            raise SyncscanError(f"{output}: holds other files: {', '.join(others)}; name another folder")
        parts.mkdir(exist_ok=True)
    except OSError as error:
        raise _unwritable(output, error) from None
    return parts


def _unwritable(output: Path | None, error: OSError) -> SyncscanError:
    return SyncscanError(f"{output}: cannot be written: {(error.strerror or str(error)).lower()}")
