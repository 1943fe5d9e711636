"""A copy of a project in which fixes are tried, so that the files of the user stay as they are."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".hg", "__pycache__", ".venv", "venv", ".tox", ".nox", "node_modules", ".*_cache"
)

_TEXT = {".py", ".toml", ".cfg", ".ini", ".json", ".yaml", ".yml"}


class Scratch:
    """A copy of a folder; commands that run in it import what lies in it."""

    def __init__(self, folder: Path, original: Path) -> None:
        self.folder = folder
        self.original = original
        shutil.copytree(original, folder, symlinks=True, ignore=_LEFT_OUT, dirs_exist_ok=True)

    def digest(self) -> str:
        """Return a digest of the text files in the copy, which changes with their contents."""
        found = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.suffix in _TEXT and path.is_file():
                content = path.read_bytes()
                found.update(f"{path.relative_to(self.folder)}\0{len(content)}\0".encode() + content)
        return found.hexdigest()

    def write(self, contents: Mapping[Path, bytes]) -> None:
        """Replace files, by their paths in the original."""
        for path, content in contents.items():
            (self.folder / path.relative_to(self.original)).write_bytes(content)

    def command(self, words: Sequence[str]) -> list[str]:
        """Return a command for the copy: a program of the original that was not copied, such as that of `.venv`, stays where it is."""
        program = Path(words[0])
        is_path = len(program.parts) > 1 and not program.is_absolute()
        if is_path and not (self.folder / program).exists():
            return [str(self.original / program), *words[1:]]
        return list(words)

    def environment(self) -> dict[str, str]:
        """Return the variables with which Python imports the copy, whatever is installed."""
        roots = [str(self.folder), *(str(path) for path in [self.folder / "src"] if path.is_dir())]
        inherited = [path for path in [os.environ.get("PYTHONPATH", "")] if path]
        return {**os.environ, "PYTHONPATH": os.pathsep.join([*roots, *inherited])}
