"""The Python environment whose packages a project imports: where they are installed."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterator
from pathlib import Path

from syncscan.config import AUTOMATIC, NO_PACKAGES
from syncscan.errors import ConfigError

_OF_A_PROJECT = (".venv", "venv")
_NAMES = ("site-packages", "dist-packages")
_NEWEST = "lib/python3.*/site-packages"


def package_folders(environment: str, root: Path) -> tuple[Path, ...]:
    """Return the folders of installed packages of an environment: its path, `AUTOMATIC` or `NO_PACKAGES`.

    The automatic choice is the active environment, then ``.venv`` or ``venv`` in ``root`` or above, then the one that runs
    syncscan. ConfigError where a path leads to no environment.
    """
    if environment == NO_PACKAGES:
        return ()
    if environment != AUTOMATIC:
        found = _folders_in(Path(environment))
        if not found:
            raise ConfigError(
                f"environment: {environment}: no Python environment; name a folder such as .venv, which holds {_NEWEST}"
            )
        return found
    for place in _candidates(root):
        if found := _folders_in(place):
            return found
    return tuple(folder for name in site.getsitepackages() if (folder := Path(name)).is_dir())


def _candidates(root: Path) -> Iterator[Path]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if named := os.environ.get(variable):
            yield Path(named)
    yield from (folder / name for folder in (root, *root.parents) for name in _OF_A_PROJECT)


def _folders_in(environment: Path) -> tuple[Path, ...]:
    """Return the package folders of an environment, or the folder itself if it is one.

    The Python that runs comes before others, and these with the newest first; one without packages comes last.
    """
    if environment.name in _NAMES and environment.is_dir():
        return (environment,)
    by_version: dict[tuple[bool, bool, int], list[Path]] = {}
    for name in _NAMES:
        for folder in sorted(environment.glob(f"lib/python3*/{name}")):
            minor = folder.parent.name.removeprefix("python3.")
            if minor.isdecimal():
                key = (_holds_any(folder), int(minor) == sys.version_info.minor, int(minor))
                by_version.setdefault(key, []).append(folder)
    if by_version:
        return tuple(by_version[max(by_version)])
    of_windows = environment / "Lib" / "site-packages"
    return (of_windows,) if _holds_any(of_windows) else ()


def _holds_any(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False
