"""Findings against traces: `syncscan check --trace`, and ``syncscan compare`` until version 1.1."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interface import renamed
from syncscan.config import find_config
from syncscan.errors import EXIT_OK
from syncscan.model import Finding
from syncscan.report import compared_json, compared_text
from syncscan.report.compared import Row, compare, read_check, rows_of
from syncscan.report.safe_text import safe_values
from syncscan.trace.load import read_traces


@click.command()
@click.option(
    "--format",
    "--output-format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
)
@click.argument("check", metavar="CHECK.json", type=parameters.path)
@click.argument(
    "traces", metavar="TRACE...", nargs=-1, required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)  # fmt: skip
def command(format_: str, check: Path, traces: tuple[Path, ...]) -> int:
    """Compare the findings in CHECK.json with traces: which findings blocked, and which synchronizations were found.

    `syncscan check --format json` printed CHECK.json in this folder; `syncscan trace --lines -o TRACE` wrote a
    trace. The longest blocked comes first.
    """
    renamed("syncscan compare", "syncscan check --trace")
    _show(read_check(check), traces, format_)
    return EXIT_OK


def show(findings: Iterable[Finding], traces: tuple[Path, ...], format_: str) -> None:
    """Compare findings, whose paths are relative to the current folder, with traces, and print the result."""
    _show(rows_of(findings), traces, format_)


def _show(findings: list[Row], traces: tuple[Path, ...], format_: str) -> None:
    folder = Path.cwd()
    trace = read_traces(traces, find_config(folder).table())
    if format_ == "text":
        findings, trace = safe_values(findings), safe_values(trace)
    compared = compare(findings, trace, folder)
    (compared_json if format_ == "json" else compared_text).render(compared, sys.stdout)
