"""Whatever happens to the files of the cache, a check and a proof print what they print without one."""

from __future__ import annotations

import pytest

from benchmarks.damaged_store import (
    COMMANDS,
    FILES,
    WAYS,
    arguments,
    found,
    kills,
    mixtures,
    pairs,
    trials,
    write,
)


@pytest.fixture(params=COMMANDS)
def command(request) -> str:
    return request.param


@pytest.fixture
def check(project, syncscan, command):
    folder = project(FILES)
    cache = folder / "cache"

    def run(edit: int, cached: bool) -> object:
        write(folder, edit)
        kept = ("--cache-dir", cache) if cached else ("--no-cache",)
        done = syncscan(*arguments(command, *kept))
        assert done.status in {0, 1}, done.stderr
        assert done.stderr == ""
        return found(done.stdout)

    return run


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_cache_gives_the_cold_result(check, tmp_path, way):
    assert check(0, False) != check(1, False)
    told = list(trials(way, 10, tmp_path, check))
    assert told == [True] * 10


def test_entries_of_two_versions_give_the_cold_result(check, tmp_path):
    assert list(mixtures(20, tmp_path, check)) == [True] * 20


def test_a_cache_that_cannot_be_written_gives_the_cold_result(check, tmp_path):
    cold = check(0, False)
    (tmp_path / "cache").symlink_to("/proc/1/nothing")
    assert check(0, True) == cold


def test_runs_that_are_killed_leave_a_cache_that_gives_the_cold_result(check, command, tmp_path):
    assert list(kills(4, tmp_path, check, command)) == [True] * 4


def test_two_runs_at_once_give_the_cold_result(check, command, tmp_path):
    assert list(pairs(1, tmp_path, check, command)) == [True]
