"""``syncscan clean``: remove the results that checks have kept."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.check.store import Store, default_folder
from syncscan.commands import parameters
from syncscan.errors import EXIT_OK, SyncscanError


@click.command("clean")
@click.option(
    "--cache-dir",
    type=parameters.path,
    metavar="FOLDER",
    help="Where results are kept; by default among the caches of the user.",
)
def command(cache_dir: Path | None) -> int:
    """Remove the results that `syncscan check` has kept.

    Nothing else in the folder is touched.
    """
    folder = cache_dir or default_folder()
    if folder is None:
        raise SyncscanError("there is no home folder, so nothing is kept; name a folder with --cache-dir")
    try:
        freed = Store(folder).clean()
    except OSError as error:
        raise SyncscanError(f"{folder}: cannot be cleaned: {error.strerror or error}") from error
    click.echo(f"removed {freed / 2**20:.1f} MiB of results from {folder}")
    return EXIT_OK
