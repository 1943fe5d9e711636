"""``syncscan diff``: what a change does to the waits of a program, from a trace before it and one after it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.config import find_config
from syncscan.errors import EXIT_FINDINGS, EXIT_OK, SyncscanError
from syncscan.report import diff_json, diff_text
from syncscan.report.diff import compare
from syncscan.report.formats import write_whole
from syncscan.report.html import of_diff
from syncscan.report.safe_text import safe_values
from syncscan.trace.kept import read_traces

_folder = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--threshold",
    type=parameters.limit,
    default="10",
    show_default=True,
    metavar="PERCENT",
    help="By how much of what it was a place has to change to count.",
)
@click.option(
    "--html", type=parameters.path, metavar="FILE", help="Write it as one HTML file, and print nothing."
)
@click.argument("base", type=_folder)
@click.argument("head", type=_folder)
def command(format_: str, threshold: float, html: Path | None, base: Path, head: Path) -> int:
    """Compare the trace in the folder HEAD with the one in BASE: what waits more, and what waits less.

    With --step in both traces it is the steady steps that are compared, and what differs less than the steps of
    one run among themselves is no change. The exit status is 1 if a place is new or worse.
    """
    table = find_config(Path.cwd()).table()
    before, after = read_traces([base], table), read_traces([head], table)
    for folder, trace, other in ((base, before, after), (head, after, before)):
        if trace["steps"] is None and other["steps"] is not None:
            target = other["steps"]["target"]
            raise SyncscanError(
                f"{folder}: traced without --step; trace it with --step {target} as the other"
            )
    if format_ == "text":
        before, after = safe_values(before), safe_values(after)
    comparison = compare(before, after, threshold / 100)
    if html is not None:
        write_whole(lambda stream: of_diff.render(comparison, stream), html)
    elif format_ == "json":
        diff_json.render(comparison, sys.stdout)
    else:
        diff_text.render(comparison, sys.stdout)
    return EXIT_FINDINGS if comparison.fails else EXIT_OK
