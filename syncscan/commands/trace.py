"""``syncscan trace``: run a command and report which of its lines made the CPU wait for the GPU."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interim import FLUSHED_SECONDS, TERMINAL, Interim
from syncscan.commands.report import output_format, show
from syncscan.commands.running import run
from syncscan.config import find_config
from syncscan.ending import tell
from syncscan.errors import EXIT_FINDINGS, EXIT_OK, ConfigError, SyncscanError
from syncscan.trace import launch
from syncscan.trace.front import step_behind
from syncscan.trace.launch import Launched
from syncscan.trace.merge import Trace
from syncscan.trace.sites import Blame
from syncscan.trace.trace import broken_limits, build

DETECTORS = ("auto", "cupti", "debug-mode", "both")


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option("-o", "--output", type=parameters.path, help="Keep the trace in this folder.")
@output_format
@click.option("--step", metavar="PKG.MOD:CLASS.METHOD", help="The function whose calls are the steps.")
@click.option("--warmup", type=click.IntRange(min=0), default=0, help="Leave out the first N steps.")
@click.option(
    "--detector",
    type=click.Choice(DETECTORS),
    help="auto (the default): CUPTI, or debug mode where CUPTI is not to be had.",
)
@click.option("--simulate", is_flag=True, help="Run on a simulated GPU: needs no GPU and times nothing.")
@click.option(
    "--include", type=parameters.text, multiple=True, metavar="GLOB", help="Blame only lines of these files."
)
@click.option(
    "--exclude", type=parameters.text, multiple=True, metavar="GLOB", help="Never blame lines of these files."
)
@click.option(
    "--backward-lines", is_flag=True, help="Blame the forward line in backward (slow: anomaly mode)."
)
@click.option(
    "--lines", is_flag=True, help="Record which lines ran, for `syncscan compare` (Python 3.12 or newer)."
)
@click.option(
    "--starved", is_flag=True, help="Measure for how long the GPU has nothing to do after each wait (CUPTI)."
)
@click.option("--live", is_flag=True, help="Show what waits on the terminal while COMMAND runs.")
@click.option(
    "--start-after",
    type=parameters.limit,
    metavar="SECONDS",
    help="Begin to trace only so long after the start.",
)
@click.option(
    "--for",
    "seconds",
    type=parameters.limit,
    metavar="SECONDS",
    help="Trace only so long, and report then; COMMAND goes on.",
)
@click.option("--max-syncs-per-step", type=parameters.limit, metavar="N", help="Fail above N.")
@click.option("--max-blocked-ms-per-step", type=parameters.limit, metavar="X", help="Fail above X.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(
    output: Path | None,
    format_: str,
    step: str | None,
    warmup: int,
    detector: str | None,
    simulate: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    backward_lines: bool,
    lines: bool,
    starved: bool,
    live: bool,
    start_after: float | None,
    seconds: float | None,
    max_syncs_per_step: float | None,
    max_blocked_ms_per_step: float | None,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND as it is and report which lines made the CPU wait for the GPU.

    The exit status is that of COMMAND (128+n if signal n ended it), or 1 if COMMAND succeeded and a
    step exceeded a limit. The report goes to stderr; `--format json` prints it on stdout.
    """
    if not command or not command[0]:
        raise ConfigError("no command given; write `syncscan trace -- python serve.py`")
    gated = max_syncs_per_step is not None or max_blocked_ms_per_step is not None
    _check_step(step, warmup, gated)
    options = {"detector": detector or "auto", "warmup": str(warmup), "step": step or ""}
    if backward_lines:
        options["backward_lines"] = "1"
    if lines:
        options["lines"] = "1"
    if starved:
        options["starved"] = "1"
    if starved and (simulate or detector == "debug-mode"):
        raise ConfigError("--starved needs CUPTI: leave --simulate and --detector debug-mode out")
    if simulate and detector is not None:
        raise ConfigError("--simulate needs no detector; leave --detector out")
    if simulate and max_blocked_ms_per_step is not None:
        raise ConfigError("--simulate times nothing: write --max-syncs-per-step")
    if live and not _has_terminal():
        raise ConfigError("--live draws on the terminal, and there is none; leave it out")
    table = find_config(Path.cwd()).table()
    front = step_behind()
    folder, parts = _prepare(output)

    def make(launched: Launched) -> Trace:
        return build(command, launched, parts, Blame(include, exclude, str(Path.cwd())), warmup, table)

    def report(launched: Launched) -> int:
        interim.end()
        trace = make(launched)
        broken = broken_limits(trace, max_syncs_per_step, max_blocked_ms_per_step)
        try:
            show(trace, format_, output, broken, again=interim.reported)
        except OSError as error:  # a limit is broken also where nobody can read of it
            tell(error)
        return EXIT_FINDINGS if broken else EXIT_OK

    window = _window(start_after, seconds)
    interim = Interim(
        make,
        lambda trace: show(trace, format_, output, [], early=True),
        live=live,
        report_at=window["ends_ns"] / 1e9 + FLUSHED_SECONDS if seconds is not None else None,
    )
    options |= {name: str(value) for name, value in window.items()}
    during = interim if live or seconds is not None else None
    try:
        return run(command, parts, options, front, report, table if simulate else None, during)
    finally:
        if output is None:
            shutil.rmtree(folder, ignore_errors=True)


def _window(start_after: float | None, seconds: float | None) -> dict[str, int]:
    """When to trace, in nanoseconds of the clock that all processes share."""
    now = time.monotonic_ns()
    begins = now + round((start_after or 0) * 1e9)
    window = {} if start_after is None else {"begins_ns": begins}
    return window if seconds is None else window | {"ends_ns": begins + round(seconds * 1e9)}


def _has_terminal() -> bool:
    try:
        TERMINAL.open("w").close()
    except OSError:
        return False
    return True


def _check_step(step: str | None, warmup: int, gated: bool) -> None:
    if step is None and (warmup or gated):
        raise ConfigError("--warmup and the limits count steps: name them with --step PKG.MOD:CLASS.METHOD")
    if step is not None:
        module, _, path = step.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *path.split("."))):
            raise ConfigError(f"--step {step}: write PKG.MOD:FUNCTION or PKG.MOD:CLASS.METHOD")


def _prepare(output: Path | None) -> tuple[Path, Path]:
    """The folder of the trace and, in it, one for what the processes write, without an earlier trace."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="syncscan-")) if output is None else output.absolute()
        parts, trace = folder / "parts", folder / "trace.json"
        if launch.remove_parts(parts):
            trace.unlink(missing_ok=True)
        elif others := [path.name for path in (parts, trace) if path.exists()]:
            raise SyncscanError(f"{output}: holds other files: {', '.join(others)}; name another folder")
        parts.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SyncscanError(
            f"{output}: cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    return folder, parts
