"""``syncscan clean``: remove the cache."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.errors import EXIT_OK, SyncscanError


@click.command("clean")
@click.option(
    "--cache-dir",
    type=parameters.path,
    metavar="FOLDER",
    help="The folder of the cache; by default SYNCSCAN_CACHE_DIR or the user's cache folder.",
)
def command(cache_dir: Path | None) -> int:
    """Remove the cache of `syncscan check`.

    Nothing else in the folder is touched.
    """
    from syncscan.check.cache import Store, default_folder  # noqa: PLC0415 (`--help` imports no engine)

    folder = cache_dir or default_folder()
    if folder is None:
        raise SyncscanError("there is no home folder, so there is no cache; name a folder with --cache-dir")
    try:
        freed = Store(folder).clean()
    except OSError as error:
        raise SyncscanError(f"{folder}: cannot be cleaned: {error.strerror or error}") from error
    done = f"removed {freed / 2**20:.1f} MiB of results from" if freed else "nothing to remove in"
    click.echo(f"{done} {folder}")
    return EXIT_OK
