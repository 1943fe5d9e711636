"""``syncscan trace``: the options; `syncscan.commands.trace_run` does what they ask for."""

from __future__ import annotations

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, observed_packages, old_option, option
from syncscan.commands.trace_options import DETECTORS, KERNELS, TraceOptions
from syncscan.report.trace_formats import TRACE_FORMATS

EPILOG = """\b
Examples:
  syncscan trace -- python serve.py
  syncscan trace --simulate -- pytest tests/
  syncscan trace --step pkg.mod:Runner.step --max-syncs-per-step 1 -- python bench.py
  syncscan trace --calls -o run --facts facts.json -- python serve.py
"""

STEPS = "Steps and limits"
LINES = "Which lines"
FACTS = "Facts"
TIME = "Part of the run"

# Words that may follow `trace` besides a command to run; `trace -- report` runs a program of that name.
SUBCOMMANDS = {
    "report": "Show a trace that `syncscan trace -o DIR` wrote.",
    "diff": "Compare two traces: which lines block more, and which block less.",
}


@click.command(
    cls=Command,
    epilog=EPILOG,
    subcommands=SUBCOMMANDS,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@option("-o", "--output", type=parameters.path, metavar="DIR", help="Write the trace into this folder.")
@option(
    "--output-format",
    type=click.Choice(list(TRACE_FORMATS)),
    default="text",
    show_default=True,
    help="The format of the report.",
)
@old_option("--format", "--output-format", "output_format")
@option("--simulate", is_flag=True, help="Run on a simulated GPU: needs no GPU and times nothing.")
@option(
    "--kernels",
    type=click.Choice(KERNELS),
    help="With --simulate, the GPU-only kernels to compute: kernels that decide control flow (auto), none (zeros), or all Triton kernels (interpret).",
)
@option(
    "--detector",
    type=click.Choice(DETECTORS),
    help="auto (the default): CUPTI, or debug mode where there is no CUPTI.",
)
@option("--starved", is_flag=True, help="Measure the idle GPU time after each synchronization (CUPTI).")
@option("--step", group=STEPS, metavar="PKG.MOD:CLASS.METHOD", help="The function whose calls are the steps.")
@option("--warmup", group=STEPS, type=click.IntRange(min=0), default=0, help="Leave out the first N steps.")
@option(
    "--max-syncs-per-step",
    group=STEPS,
    type=parameters.limit,
    metavar="N",
    help="Exit with status 1 if a step blocks more often.",
)
@option(
    "--max-blocked-ms-per-step",
    group=STEPS,
    type=parameters.limit,
    metavar="X",
    help="Exit with status 1 if a step blocks for longer.",
)
@option(
    "--include",
    group=LINES,
    type=parameters.text,
    multiple=True,
    metavar="GLOB",
    help="Attribute synchronizations to lines of these files alone.",
)
@option(
    "--exclude",
    group=LINES,
    type=parameters.text,
    multiple=True,
    metavar="GLOB",
    help="Attribute no synchronization to lines of these files.",
)
@option(
    "--backward-lines",
    group=LINES,
    is_flag=True,
    help="Attribute what blocks in backward to the forward line (slow: anomaly mode).",
)
@option(
    "--lines",
    group=LINES,
    is_flag=True,
    help="Record which lines ran, for `syncscan check --trace` (Python 3.12 or newer).",
)
@option(
    "--calls",
    group=LINES,
    is_flag=True,
    help="Record the lines that ran and the callees of each call, for `syncscan prove --given`; takes twice the time.",
)
@option(
    "--facts",
    group=FACTS,
    type=parameters.path,
    metavar="FACTS.json",
    help="Write into this file where values lived, as `syncscan facts record` does, in the same run: the whole run, also with --for.",
)
@observed_packages(FACTS)
@option(
    "--live", group=TIME, is_flag=True, help="Show the blocking lines on the terminal while COMMAND runs."
)
@option(
    "--start-after",
    group=TIME,
    type=parameters.limit,
    metavar="SECONDS",
    help="Begin to trace this long after the start.",
)
@option(
    "--for",
    "seconds",
    group=TIME,
    type=parameters.limit,
    metavar="SECONDS",
    help="Trace for this long, and report then; COMMAND goes on.",
)
@click.argument(
    "command", nargs=-1, type=click.UNPROCESSED, shell_complete=parameters.complete(lambda: SUBCOMMANDS)
)
def command(**values: object) -> int:
    """Run COMMAND unmodified and report the lines that blocked the CPU until the GPU had finished.

    The exit status is that of COMMAND (128+n if signal n ended it), or 1 if COMMAND succeeded and a
    step exceeded a limit. The report goes to stderr; other formats than text go to stdout.
    """
    from syncscan.commands.trace_run import run  # noqa: PLC0415 (`--help` imports no more)

    return run(TraceOptions(**values))  # type: ignore[arg-type]  # click has made each of its type
