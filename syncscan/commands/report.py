"""``syncscan report``: show a trace that ``syncscan trace -o DIR`` kept."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from syncscan.config import find_config
from syncscan.files import replace_file
from syncscan.report import trace_json, trace_text
from syncscan.report.safe_text import safe_line
from syncscan.trace.launch import Launched
from syncscan.trace.sites import Blame
from syncscan.trace.trace import build, load

output_format = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the report.",
)


@click.command()
@output_format
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(format_: str, folder: Path) -> int:
    """Show the trace in FOLDER again."""
    if not (folder / "trace.json").exists() and (folder / "parts").is_dir():
        trace = build(
            [], Launched(), folder / "parts", Blame(), 0, find_config(Path.cwd()).table()
        )  # the launcher itself was killed
    else:
        trace = load(folder)
    render(trace, format_, sys.stdout)
    return 0


def show(trace: dict[str, Any], format_: str, output: Path | None, broken: list[str]) -> None:
    """Keep the trace of a run in a folder if given, and print it: text on stderr and JSON on stdout.

    What the limits say follows on stderr. OSError if there is no room, or nobody reads it.
    """
    if output is not None:
        whole = io.StringIO()
        trace_json.render(trace, whole)
        replace_file(output / "trace.json", whole.getvalue())
    render(trace, format_, sys.stdout if format_ == "json" else sys.stderr)
    for line in broken:
        click.echo(f"syncscan: {safe_line(line)}", err=True)
    sys.stdout.flush()


def render(trace: dict[str, Any], format_: str, stream: Any) -> None:
    """Print a trace; text is as wide as the terminal."""
    if format_ == "json":
        trace_json.render(trace, stream)
    else:
        trace_text.render(trace, stream, shutil.get_terminal_size((120, 24)).columns)
