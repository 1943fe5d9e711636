"""``syncscan init``: settings, a baseline and a CI job for a project that has none."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.commands.interface import Command, option


@click.command("init", cls=Command)
@option("--yes", "-y", is_flag=True, help="Write without asking; in a pipe nothing is asked.")
@option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(folder: Path, *, yes: bool, dry_run: bool) -> int:
    """Propose settings for the project in FOLDER: the current folder by default.

    The check finds where the steps of the project start (`hot`), and its findings become the baseline. The command
    writes [tool.syncscan] into pyproject.toml, and syncscan-baseline.json. If a job of GitHub Actions can install
    syncscan, from a wheel in FOLDER/tools for instance, the command writes the job too.
    """
    from syncscan.commands.init_run import run  # noqa: PLC0415 (`--help` imports no engine)

    return run(folder.resolve(), asks=not yes, writes=not dry_run)
