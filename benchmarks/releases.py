"""The Python source of published releases, to run syncscan on real code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

CACHE = Path.home() / ".cache" / "syncscan-sources"


def wheel(release: str, scratch: Path, *options: str) -> Path | None:
    """The files of the wheel for this machine, unpacked."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    download(release, folder, "--only-binary=:all:", *options)
    for archive in folder.glob("*.whl"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder / "source")
        return folder / "source"
    return None


def pure_wheel(release: str, scratch: Path) -> Path | None:
    """The files of a wheel for any machine."""
    return wheel(release, scratch, "--platform=any", "--python-version=3.12")


def source_distribution(release: str, scratch: Path) -> Path | None:
    """The files of a source distribution.

    pip unpacks it before it runs the build of the release for its metadata, and leaves it where told not to
    clean up; whether that build works is all the same.
    """
    build = Path(tempfile.mkdtemp(dir=scratch))
    options = ("--no-binary=:all:", "--no-build-isolation", "--no-clean")
    download(release, scratch / "sdist", *options, TMPDIR=str(build))
    return next((path.parent for path in build.glob("*/*/PKG-INFO")), None)


def download(release: str, folder: Path, *options: str, **environment: str) -> None:
    """Ask pip for a release; what is not there is left out without a word."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--ignore-requires-python", *options, f"--dest={folder}", release]
    subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=False)


Way = Callable[[str, Path], Path | None]
# A wheel for this machine may be hundreds of megabytes of compiled code, so it comes last.
WAYS: Sequence[Way] = (pure_wheel, source_distribution, wheel)


def fetch(release: str, cache: Path, ways: Sequence[Way] = WAYS) -> Path:
    """The folder with the Python files of a release, such as ``vllm==0.19.0``; pip downloads what is not there.

    The first way that gives something is taken. It ends the program with one line where none does.
    """
    folder = cache / release.replace("==", "-")
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as name:
        scratch = Path(name)
        source = next(filter(None, (way(release, scratch) for way in ways)), None)
        if source is None:
            sys.exit(f"{release} cannot be downloaded; `pip download --no-deps {release}` says why")
        for path in source.rglob("*"):
            if path.is_symlink() or (path.is_file() and path.suffix != ".py"):
                path.unlink()
        source.rename(folder)
    return folder


def copied(name: str, cache: Path, scratch: Path) -> Path:
    """A copy of a release, or of a folder inside it, with nothing around it that would be read too."""
    release, _, inside = name.partition(":")
    folder = fetch(release, cache) if "==" in release else Path(release)
    shutil.copytree(folder / inside, scratch / "project" / inside)
    return scratch / "project"
