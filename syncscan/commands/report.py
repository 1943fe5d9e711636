"""``syncscan report``: show a trace that ``syncscan trace -o DIR`` kept."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import click

from syncscan.commands import parameters
from syncscan.config import find_config
from syncscan.errors import EXIT_OK
from syncscan.report import trace_formats, trace_json
from syncscan.report.formats import write_whole
from syncscan.report.html import of_trace
from syncscan.report.safe_text import safe_line
from syncscan.report.trace_formats import TRACE_FORMATS
from syncscan.trace.kept import read_traces

output_format = click.option(
    "--format",
    "format_",
    type=click.Choice(list(TRACE_FORMATS)),
    default="text",
    show_default=True,
    help="How to print the report.",
)


html_file = click.option(
    "--html", type=parameters.path, metavar="FILE", help="Write it as one HTML file, and print nothing."
)


@click.command()
@output_format
@html_file
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
def command(format_: str, html: Path | None, folders: tuple[Path, ...]) -> int:
    """Show the trace in FOLDER again.

    Several traces, or a folder of them, as the machines of one run keep them, are shown as one.
    """
    trace = read_traces(folders, find_config(Path.cwd()).table())
    if html is not None:
        write_whole(lambda stream: of_trace.render(trace, stream), html)
    else:
        render(trace, format_, sys.stdout)
    return EXIT_OK


def show(
    trace: dict[str, Any],
    format_: str,
    output: Path | None,
    broken: list[str],
    *,
    early: bool = False,
    again: bool = False,
) -> None:
    """Keep the trace of a run in a folder if given, and print it: text on stderr and all else on stdout.

    What the limits say follows on stderr. ``early``, while the command runs, text alone is printed, and at the
    end not ``again``. OSError if there is no room, or nobody reads it.
    """
    if output is not None:
        write_whole(lambda stream: trace_json.render(trace, stream), output / "trace.json")
    if early:
        trace = trace | {"command": []}  # of which the exit status is not known
    if format_ == "text" and not again:
        render(trace, format_, sys.stderr)
    elif format_ != "text" and not early:
        render(trace, format_, sys.stdout)
    for line in broken:
        click.echo(f"syncscan: {safe_line(line)}", err=True)
    sys.stdout.flush()


def render(trace: dict[str, Any], format_: str, stream: Any) -> None:
    """Print a trace; text is as wide as the terminal."""
    trace_formats.render(format_, trace, stream, shutil.get_terminal_size((120, 24)).columns)
