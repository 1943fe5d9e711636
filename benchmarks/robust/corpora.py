"""Real Python to check: releases of public packages, and CPython's own tests."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

CPYTHON = "cpython"  # the tests of the Python that runs this, which hold every odd form of the language
RELEASES = (
    "torch==2.13.0",
    "transformers==5.17.0",
    "jax==0.10.2",
    "sympy==1.14.0",
    "pandas==3.1.1",
    "scipy==1.17.1",
)
CACHE = Path.home() / ".cache" / "syncscan-sources"


def fetch(name: str, cache: Path) -> Path:
    """The folder of a corpus: ``cpython``, a release as pip names it, or a folder of one's own."""
    if name == CPYTHON:
        return Path(sysconfig.get_path("stdlib")) / "test"
    if "==" not in name:
        return Path(name).resolve()
    folder = cache / name.replace("==", "-")
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=_made(cache)) as scratch:
            unpacked = Path(scratch) / "source"
            _unpack(_wheel(name, Path(scratch)), unpacked)
            unpacked.rename(folder)
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _wheel(release: str, folder: Path) -> Path:
    """Download a wheel: to take a source distribution, pip would run code of its build."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(folder), release], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])
