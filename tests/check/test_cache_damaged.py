"""Whatever happens to the files of the cache, a check prints what it prints without one."""

from __future__ import annotations

import json

import pytest

from benchmarks.damaged_store import EDITS, FILES, WAYS, kills, pairs, trials


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


def test_checks_that_are_killed_leave_a_cache_that_gives_the_cold_result(check, tmp_path):
    assert list(kills(4, tmp_path, check)) == [True] * 4


def test_two_checks_at_once_give_the_cold_result(check, tmp_path):
    assert list(pairs(1, tmp_path, check)) == [True]
