"""Plays a page of the documentation: writes the files that it shows, runs its commands, compares what they print.

A code block with a title is a file, or replaces an earlier one of that name. A `console` block holds commands after
`$ `, each followed by what it prints; a line `...` stands for any lines, and numbers of seconds for any number.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r"\d+\.\d+ ?s\b")


def play(page: str, folder: Path) -> list[tuple[str, str, str]]:
    """The commands whose output differs: each with what the page shows, and what was printed."""
    differences = []
    for language, title, text in _BLOCK.findall(page):
        if title:
            (folder / title).parent.mkdir(parents=True, exist_ok=True)
            (folder / title).write_text(text, encoding="utf-8")
        elif language == "console":
            for command, shown in _commands(text):
                printed = _run(command, folder)
                if not _pattern(shown).fullmatch(_SECONDS.sub("0 s", printed)):
                    differences.append((command, shown, printed))
    return differences


def _commands(text: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert not parts[0], f"begins with no command: {parts[0]!r}"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _run(command: str, folder: Path) -> str:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONHASHSEED": "0"}
    environment.pop("COLUMNS", None)  # which pytest-xdist sets; a pipe has no width
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.replace(str(folder.resolve()), "~")


def _pattern(shown: str) -> re.Pattern[str]:
    lines = _SECONDS.sub("0 s", shown).splitlines()
    return re.compile("".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines))
