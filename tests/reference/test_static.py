"""`syncscan check` finds each marked line of the blocking forms, and nothing in the sync-free ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKING = "tests/reference/blocking"
SYNC_FREE = "syncscan/reference"


def findings(*paths: str) -> set[tuple[str, int, str]]:
    command = [sys.executable, "-m", "syncscan", "check", "--format", "json", *paths]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode in {0, 1}, result.stderr
    return {(found["path"], found["line"], found["code"]) for found in json.loads(result.stdout)["findings"]}


def marks(folder: str) -> set[tuple[str, int, str]]:
    return {
        (path.relative_to(ROOT).as_posix(), number, code)
        for path in (ROOT / folder).glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for marked in re.findall(r"# expect: ([A-Z0-9, ]+)", line)
        for code in re.findall(r"SYN\d+", marked)
    }


@pytest.fixture(scope="module")
def found() -> set[tuple[str, int, str]]:
    return findings(BLOCKING, SYNC_FREE)


def test_every_wait_of_the_blocking_forms_is_found_at_its_line(found: set[tuple[str, int, str]]) -> None:
    assert {finding for finding in found if finding[0].startswith(BLOCKING)} == marks(BLOCKING)


def test_nothing_is_found_in_the_sync_free_forms(found: set[tuple[str, int, str]]) -> None:
    assert {finding for finding in found if finding[0].startswith(SYNC_FREE)} == set()
