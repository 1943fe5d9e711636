"""Whatever happens to the files of the cache, a check prints what it prints without one."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.damaged_store import EDITS, FILES, WAYS, trials


def findings(run) -> object:
    assert run.status in {0, 1}, run.stderr
    assert run.stderr == ""
    return json.loads(run.stdout)["findings"]


@pytest.fixture
def check(project, syncscan):
    folder = project(FILES)
    cache = folder / "cache"

    def run(edit: int, cached: bool) -> object:
        (folder / "main.py").write_text(FILES["main.py"] + EDITS[edit])
        kept = ("--cache-dir", cache) if cached else ("--no-cache",)
        return findings(syncscan("check", "--output-format", "json", *kept, *FILES))

    return run


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_cache_gives_the_cold_result(check, tmp_path, way):
    assert check(0, False) != check(1, False)
    told = list(trials(way, 4, tmp_path, check))
    assert told == [True] * 4


def test_a_cache_that_cannot_be_written_gives_the_cold_result(check, tmp_path):
    cold = check(0, False)
    (tmp_path / "cache").symlink_to("/proc/1/nothing")
    assert check(0, True) == cold


def command(folder: Path) -> list[str]:
    arguments = ["check", "--output-format", "json", "--cache-dir", str(folder / "cache"), *FILES]
    return [sys.executable, "-m", "syncscan", *arguments]


def test_checks_that_are_killed_leave_a_cache_that_gives_the_cold_result(check, tmp_path):
    cold = check(0, False)
    began = time.monotonic()
    subprocess.run(command(tmp_path), cwd=tmp_path, capture_output=True, check=False)
    whole = time.monotonic() - began
    for number in range(4):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True) if number % 2 else None
        with contextlib.suppress(subprocess.TimeoutExpired):  # killed
            subprocess.run(
                command(tmp_path),
                cwd=tmp_path,
                capture_output=True,
                timeout=whole * (number + 1) / 5,
                check=False,
            )
        assert check(0, True) == cold


def test_two_checks_at_once_give_the_cold_result(check, tmp_path):
    cold = check(0, False)
    started = [
        subprocess.Popen(command(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [process.communicate() for process in started]
    assert [json.loads(out)["findings"] for out, _ in told] == [cold] * 2
    assert [err for _, err in told] == [b""] * 2
    assert check(0, True) == cold
