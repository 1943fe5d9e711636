"""Finds the packages, and with SYNCSCAN_COMPILE=1 compiles the inference; all else that the build must know is in pyproject.toml."""

import os
from pathlib import Path

from setuptools import Extension, find_packages, setup

_COMPILED = (
    "syncscan/model/vocabulary.py",
    "syncscan/ops",
    "syncscan/check/infer/dataflow",
    "syncscan/check/infer/domain",
    "syncscan/check/infer/ir",
    "syncscan/check/infer/lower",
    "syncscan/check/infer/solve/solver.py",
    "syncscan/check/infer/transfer",
)
_INTERPRETED = {"state.py"}  # whose class has a subclass that restores attributes on demand


def compiled() -> list[Extension]:
    """Return the modules in which a check spends most of its time, as extensions; mypy must be installed."""
    if os.environ.get("SYNCSCAN_COMPILE") != "1":
        return []
    from mypyc.build import mypycify  # noqa: PLC0415 (a plain build has no mypy)

    files = [
        file
        for path in map(Path, _COMPILED)
        for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])
        if file.name != "__init__.py" and file.name not in _INTERPRETED
    ]
    return mypycify([*map(str, files)], debug_level="0")


setup(packages=[*find_packages(include=["syncscan", "syncscan.*"]), "syncscan.rules"], ext_modules=compiled())
