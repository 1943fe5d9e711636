"""``syncscan trace diff``: the effect of a change on the synchronizations of a program, from a trace before and a trace after."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, old_option, option
from syncscan.errors import EXIT_FINDINGS, EXIT_OK, SyncscanError
from syncscan.report.formats import write_whole

_folder = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("diff", cls=Command)
@option(
    "--output-format",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="The format of the report.",
)
@old_option("--format", "--output-format", "output_format")
@option(
    "-o",
    "--output-file",
    type=parameters.path,
    metavar="FILE",
    help="Write the report to FILE in place of the terminal.",
)
@old_option("--html", "--output-format html --output-file", "output_file", output_format="html")
@option(
    "--threshold",
    type=parameters.limit,
    default="10",
    show_default=True,
    metavar="PERCENT",
    help="By how much a site has to change to count.",
)
@click.argument("base", type=_folder)
@click.argument("head", type=_folder)
def command(output_format: str, output_file: Path | None, threshold: float, base: Path, head: Path) -> int:
    """Compare the trace in the folder HEAD with the one in BASE: which sites block more, and which block less.

    With --step in both traces the steady steps are compared. A difference that the steps of one run show among
    themselves is no change. A site of one trace alone is new or gone, unless the site came by chance in a few steps on
    a real GPU. If the exit statuses of the commands differ, a line says so: no site is better or gone if the command of
    HEAD failed, and otherwise no site is new or worse. The exit status is 1 if a site is new or worse.
    """
    from syncscan.config import find_config  # noqa: PLC0415 (`--help` needs no more)
    from syncscan.report import diff_json, diff_text  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.report.diff import compare  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.report.html import of_diff  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.report.safe_text import safe_values  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.trace.load import read_traces  # noqa: PLC0415 (`--help` imports no engine)

    table = find_config(Path.cwd()).table()
    before, after = read_traces([base], table), read_traces([head], table)
    for folder, trace, other in ((base, before, after), (head, after, before)):
        if trace["steps"] is None and other["steps"] is not None:
            target = other["steps"]["target"]
            raise SyncscanError(
                f"{folder}: traced without --step; trace it with --step {target} as the other"
            )
    if output_format == "text":
        before, after = safe_values(before), safe_values(after)
    comparison = compare(before, after, threshold / 100)
    renderer = {"text": diff_text, "json": diff_json, "html": of_diff}[output_format]
    if output_file is not None:
        write_whole(lambda stream: renderer.render(comparison, stream), output_file)
    else:
        renderer.render(comparison, sys.stdout)
    return EXIT_FINDINGS if comparison.fails else EXIT_OK
