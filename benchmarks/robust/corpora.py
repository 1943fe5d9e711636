"""Real Python to check: releases of public packages, and CPython's own tests."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from benchmarks import releases

CPYTHON = "cpython"  # the tests of the Python that runs this, which hold every odd form of the language
RELEASES = (
    "torch==2.13.0",
    "transformers==5.17.0",
    "jax==0.10.2",
    "sympy==1.14.0",
    "pandas==3.1.1",
    "scipy==1.17.1",
)


def fetch(name: str, cache: Path) -> Path:
    """The folder of a corpus: ``cpython``, a release as pip names it, or a folder of one's own."""
    if name == CPYTHON:
        return Path(sysconfig.get_path("stdlib")) / "test"
    if "==" not in name:
        return Path(name).resolve()
    # To take a source distribution, pip would run code of its build.
    return releases.fetch(name, cache, ways=(releases.wheel,))
