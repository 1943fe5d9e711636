"""Finds the Python that a command starts, without running anything of the program."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

_SECONDS = 10.0
_VERSION = "import sys; print(*sys.version_info[:2])"


def python_version(program: str) -> tuple[int, int] | None:
    """Return the version of a Python, or of the one that a script names in its first line; None for other programs."""
    python = _python_of(program)
    if python is None:
        return None
    command = [python, "-I", "-S", "-c", _VERSION]  # neither the program's environment nor its start-up hooks
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return major, minor


def is_python(program: str) -> bool:
    """Return whether a program is an interpreter, by its name."""
    return re.fullmatch(r"python[\d.]*t?d?|pypy[\d.]*", Path(program).name) is not None


def _python_of(program: str) -> str | None:
    path = shutil.which(program)
    if path is None or is_python(path):
        return path
    try:
        with Path(path).open("rb") as file:
            first = file.readline(1024)
    except OSError:
        return None
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    named = next((word for word in words if is_python(word)), None)
    return shutil.which(named) if named is not None else None
