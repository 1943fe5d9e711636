"""``syncscan facts``: what to do with files of facts."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.errors import EXIT_OK
from syncscan.facts import merged
from syncscan.files import replace_file
from syncscan.report.records import plural


@click.group("facts")
def command() -> None:
    """Merge what runs of `syncscan observe` have kept."""


@command.command(short_help="Write what several files of facts say into one.")
@click.option("-o", "--output", type=parameters.path, required=True, metavar="FACTS.json")
@click.argument("files", nargs=-1, required=True, type=parameters.path)
def merge(output: Path, files: tuple[Path, ...]) -> int:
    """Write all that FILES say into one file; their order makes no difference."""
    facts = merged(files)
    replace_file(output, facts.text())
    click.echo(f"syncscan: {output} has facts of {plural(len(facts), 'function')}", err=True)
    return EXIT_OK
