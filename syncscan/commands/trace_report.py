"""``syncscan trace report``: show a trace that ``syncscan trace -o DIR`` wrote."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, old_option, option
from syncscan.errors import EXIT_OK
from syncscan.report import trace_formats, trace_json
from syncscan.report.formats import write_whole
from syncscan.report.safe_text import safe_line
from syncscan.report.trace_formats import TRACE_FORMATS


@click.command("report", cls=Command)
@option(
    "--output-format",
    type=click.Choice(list(TRACE_FORMATS)),
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
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
def command(output_format: str, output_file: Path | None, folders: tuple[Path, ...]) -> int:
    """Show the trace in FOLDER again.

    Several traces, or a folder of traces from the machines of one run, are shown as one.
    """
    from syncscan.config import find_config  # noqa: PLC0415 (`--help` needs no settings)
    from syncscan.trace.load import read_traces  # noqa: PLC0415 (`--help` imports no engine)

    trace = read_traces(folders, find_config(Path.cwd()).table())
    if output_file is not None:
        write_whole(lambda stream: render(trace, output_format, stream), output_file)
    else:
        render(trace, output_format, sys.stdout)
    return EXIT_OK


def show(
    trace: dict[str, Any],
    output_format: str,
    output: Path | None,
    broken: list[str],
    *,
    early: bool = False,
    again: bool = False,
) -> None:
    """Keep the trace of a run in a folder if given, and print it: text on stderr and all else on stdout.

    Broken limits follow on stderr. ``early``, while the command runs, prints text alone, and at the
    end not ``again``. OSError if there is no room, or nobody reads the output.
    """
    if output is not None:
        write_whole(lambda stream: trace_json.render(trace, stream), output / "trace.json")
    if early:
        trace = trace | {"command": []}  # of which the exit status is not known
    if output_format == "text" and not again:
        render(trace, output_format, sys.stderr)
    elif output_format != "text" and not early:
        render(trace, output_format, sys.stdout)
    for line in broken:
        click.echo(f"syncscan: {safe_line(line)}", err=True)
    sys.stdout.flush()


def render(trace: dict[str, Any], output_format: str, stream: Any) -> None:
    """Print a trace; text is as wide as the terminal."""
    trace_formats.render(output_format, trace, stream, shutil.get_terminal_size((120, 24)).columns)
