"""Copies of parts of this repository, made while other tests run in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def copy_parts(names: Iterable[str], target: Path, copy: Callable[..., object] = shutil.copy2) -> None:
    """Copy files and folders of the repository into `target`, under their names in the repository.

    Compiled files stay behind: other processes write and rename them at any moment.
    """
    for name in names:
        source, place = ROOT / name, target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"), copy_function=copy)
        else:
            copy(source, place)
