"""`check --watch`: what it shows as files change, come and go, and how it ends."""

from __future__ import annotations

import itertools
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from syncscan.check.discover import load_project
from syncscan.commands.watch import Watched, watch
from syncscan.config import Config
from tests.foreground import foreground

MADE = 'import torch\n\nt = torch.zeros(8, device="cuda")\n'
READ = "from made import t\n\nt.item()\n"
WATCHING = re.compile(r"\[\d\d:\d\d:\d\d\] Watching for changes; Ctrl-C ends it\.\n")


class Watch:
    """A check that watches a folder."""

    def __init__(self, process: subprocess.Popen[str], output: IO[str]) -> None:
        self.process = process
        self._output = output

    def shows(self) -> str:
        """What it shows next, up to where it watches again."""
        lines: list[str] = []
        while not (lines and WATCHING.search(lines[-1])):
            line = self._output.readline()
            assert line, f"it ended: {lines}"
            lines.append(line)
        return "".join(lines[:-1])

    def findings(self) -> list[str]:
        """The places of the findings that it shows next, and what it says of files that it could not check."""
        return re.findall(
            r"^(\S+:\d+:\d+: SYN\d+|syncscan: .*|.*little to block for at: .*)", self.shows(), re.MULTILINE
        )

    def interrupt(self) -> int:
        """Press Ctrl-C; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


@contextmanager
def watching(folder: Path, *options: str) -> Iterator[Watch]:
    command = [sys.executable, "-m", "syncscan", "check", "--watch", *options]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        preexec_fn=foreground,
    ) as process:
        assert process.stdout is not None
        try:
            yield Watch(process, process.stdout)
        finally:
            process.kill()


def put(path: Path, text: str) -> None:
    """Write a file in one step, so that nothing in between is seen."""
    written = path.with_name(f"{path.name}.new")
    written.write_text(text)
    written.replace(path)


def test_findings_follow_files_that_change_come_and_go(project):
    root = project({"pyproject.toml": "", "made.py": MADE, "read.py": READ})
    with watching(root) as check:
        assert check.findings() == ["read.py:3:1: SYN101"]
        put(root / "read.py", READ + "t.tolist()\n")
        assert check.findings() == [
            "read.py:3:1: SYN101",
            "  = little to block for at: 4:1 SYN102",
        ]
        put(root / "made.py", MADE.replace("cuda", "cpu"))
        assert check.findings() == []
        put(root / "made.py", MADE)
        assert len(check.findings()) == 2
        (root / "deep").mkdir()
        (root / "deep" / "er").mkdir()
        put(root / "deep" / "er" / "new.py", READ)
        assert check.findings()[0] == "deep/er/new.py:3:1: SYN101"
        (root / "read.py").unlink()
        assert check.findings() == ["deep/er/new.py:3:1: SYN101"]
        (root / "made.py").unlink()
        assert check.findings() == []
        assert check.interrupt() == 0


def test_findings_are_watched_in_one_line_each(project):
    root = project({"pyproject.toml": "", "made.py": MADE, "read.py": READ})
    with watching(root, "--output-format", "concise") as check:
        assert [line.partition(" `")[0] for line in check.shows().splitlines()][:-1] == [
            "read.py:3:1: SYN101"
        ]
        put(root / "read.py", READ + "t.tolist()\n")
        found = [line.partition(" `")[0] for line in check.shows().splitlines()][:-1]
        assert found == ["read.py:3:1: SYN101", "read.py:4:1: SYN102"]


def test_a_folder_becomes_a_package(project):
    root = project(
        {"pyproject.toml": "", "tools/lib/made.py": MADE, "read.py": READ.replace("made", "lib.made")}
    )
    with watching(root) as check:
        assert check.findings() == []
        put(root / "tools" / "lib" / "__init__.py", "")
        assert check.findings() == ["read.py:3:1: SYN101"]


def test_what_is_half_typed_counts_as_it_was(project):
    root = project({"pyproject.toml": "", "made.py": MADE + "t.item()\n", "read.py": READ})
    with watching(root) as check:
        assert check.findings() == ["made.py:4:1: SYN101", "read.py:3:1: SYN101"]
        put(root / "made.py", MADE + "t.item(\n")
        assert check.findings() == [
            "read.py:3:1: SYN101",
            "syncscan: made.py:4: syntax error: '(' was never closed",
        ]
        put(root / "made.py", MADE)
        assert check.findings() == ["read.py:3:1: SYN101"]
        assert check.interrupt() == 0


def test_settings_and_what_is_left_out_are_followed(project):
    root = project({"pyproject.toml": "", "made.py": MADE, "read.py": READ})
    with watching(root) as check:
        assert check.findings() == ["read.py:3:1: SYN101"]
        put(root / "pyproject.toml", '[tool.syncscan]\nignore = ["SYN1"]\n')
        assert check.findings() == []
        put(root / "pyproject.toml", "[tool.syncscan]\nignre = []\n")
        (said,) = check.findings()
        assert "unknown key 'ignre'" in said
        put(root / "pyproject.toml", "[tool.syncscan]\n")
        assert check.findings() == ["read.py:3:1: SYN101"]
        put(root / ".gitignore", "made.py\n")
        assert check.findings() == []
        assert check.interrupt() == 0


def test_settings_that_others_extend_are_followed(project):
    extending = '[tool.syncscan]\nextend = "../{}.toml"\n'
    plain = "[tool.syncscan]\n"
    root = project(
        {
            "team.toml": extending.format("firm/all").replace("../", ""),
            "firm/all.toml": plain,
            "src/pyproject.toml": extending.format("team"),
            "src/made.py": MADE + "t.item()\n",
        }
    )
    with watching(root / "src") as check:
        assert check.findings() == ["made.py:4:1: SYN101"]
        put(root / "firm" / "all.toml", '[tool.syncscan]\nignore = ["SYN1"]\n')
        assert check.findings() == []
        put(root / "team.toml", plain)
        assert check.findings() == ["made.py:4:1: SYN101"]
        assert check.interrupt() == 0


def test_a_wrong_setting_at_the_start_ends_it(syncscan, project):
    project({"pyproject.toml": "[tool.syncscan]\nselct = []\n"})
    run = syncscan("check", "--watch")
    assert (run.status, run.stdout) == (2, "")
    assert "unknown key 'selct'" in run.stderr


def test_what_brings_nothing_else_is_not_shown(project):
    root = project({"pyproject.toml": "", "made.py": MADE})
    reads, shown = itertools.count(), []

    def read() -> Watched:
        number = next(reads)
        if number == 5:
            raise KeyboardInterrupt
        os.utime(root / "made.py", (number, number))
        return Watched(load_project([root], Config(root)), Config(root), (), 0.0)

    assert watch(read, shown.append) == 0
    assert len(shown) == 1


def test_a_terminal_is_cleared(project):
    root = project({"pyproject.toml": "", "made.py": MADE})
    shown, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "syncscan", "check", "--watch"],
        cwd=root,
        stdout=terminal,
        stderr=terminal,
        preexec_fn=foreground,
    ) as process:
        os.close(terminal)
        with os.fdopen(shown, encoding="utf-8") as output:
            first = output.readline()
            assert first.startswith("\x1b[2J\x1b[3J\x1b[H")
            check = Watch(process, output)
            check.shows()
            put(root / "made.py", MADE + "t.item()\n")
            assert check.shows().startswith("\x1b[2J\x1b[3J\x1b[H")
            assert check.interrupt() == 0
