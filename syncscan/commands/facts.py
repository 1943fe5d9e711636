"""``syncscan facts``: record where the values of a run lived, and merge what several runs recorded."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, observed_packages, option
from syncscan.errors import EXIT_OK

DEFAULT_FILE = Path("syncscan-facts.json")


@click.group("facts")
def command() -> None:
    """Record facts of runs for the check, or merge them."""


@command.command(
    cls=Command,
    short_help="Run a command and record where the values of its functions lived.",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@option("-o", "--output", type=parameters.path, default=DEFAULT_FILE, show_default=True, metavar="FACTS.json")
@option("--append", is_flag=True, help="Add to the facts in the file.")
@option("--simulate", is_flag=True, help="Run on a simulated GPU: needs no GPU.")
@observed_packages()
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def record(
    output: Path, *, append: bool, simulate: bool, packages: tuple[str, ...], command: tuple[str, ...]
) -> int:
    """Run COMMAND unmodified and record where its parameters, results and attributes lived.

    A fact is such as "on the GPU in 340 calls". Facts are of the project's functions and those of the named
    packages, and hold no value. `syncscan check --facts FACTS.json` uses them. The exit status is that of COMMAND.
    """
    from syncscan.commands import facts_record  # noqa: PLC0415 (`--help` imports no more)

    return facts_record.record(output, command, packages, append=append, simulate=simulate)


@command.command(cls=Command, short_help="Write the facts of several files into one.")
@option("-o", "--output", type=parameters.path, required=True, metavar="FACTS.json")
@click.argument("files", nargs=-1, required=True, type=parameters.path)
def merge(output: Path, files: tuple[Path, ...]) -> int:
    """Write the facts of FILES into one file; their order makes no difference."""
    from syncscan.facts import merged  # noqa: PLC0415 (`--help` imports no more)
    from syncscan.system.files import replace_file  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.words import plural  # noqa: PLC0415 (`--help` imports no engine)

    facts = merged(files)
    replace_file(output, facts.text())
    click.echo(f"syncscan: {output} has facts of {plural(len(facts), 'function')}", err=True)
    return EXIT_OK
