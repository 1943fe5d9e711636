"""Work in a second process, beside that of this one."""

from __future__ import annotations

import os

import pytest

from syncscan.system.workers import beside

ALONE, TWO = 1, 2


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the children that a test starts."""
    found: list[int] = []
    fork = os.fork

    def counted() -> int:
        found.append(fork())
        return found[-1]

    monkeypatch.setattr(os, "fork", counted)
    return found


def assert_gone(started: list[int]) -> None:
    (pid,) = started
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


@pytest.mark.parametrize(("count", "is_here"), [(ALONE, True), (TWO, False)])
def test_work_runs_in_a_second_process_where_there_may_be_one(count: int, is_here: bool) -> None:
    with beside(os.getpid, count) as result:
        assert (result() == os.getpid()) is is_here


def test_what_a_child_does_not_bring_back_is_done_here() -> None:
    here = os.getpid()

    def dies_elsewhere() -> str:
        if os.getpid() != here:
            os._exit(1)
        return "done"

    with beside(dies_elsewhere, TWO) as result:
        assert result() == "done"


def test_without_a_folder_for_files_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_folder() -> str:
        raise FileNotFoundError

    monkeypatch.setattr("tempfile._get_default_tempdir", no_folder)
    monkeypatch.setattr("tempfile.tempdir", None)
    with beside(os.getpid, TWO) as result:
        assert result() == os.getpid()


def test_a_result_may_be_asked_for_twice() -> None:
    with beside(lambda: "done", TWO) as result:
        assert [result(), result()] == ["done", "done"]


def test_the_child_ends_with_an_interrupted_wait(started: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    wait = os.waitpid

    def interrupted(pid: int, options: int) -> tuple[int, int]:
        monkeypatch.setattr(os, "waitpid", wait)
        raise KeyboardInterrupt

    def asked() -> None:
        with beside(lambda: os.read(reader, 1), TWO) as result:
            monkeypatch.setattr(os, "waitpid", interrupted)
            result()

    with pytest.raises(KeyboardInterrupt):
        asked()
    os.close(writer)
    assert_gone(started)


def test_the_child_ends_with_the_body(started: list[int]) -> None:
    reader, writer = os.pipe()

    def never_ends() -> None:
        os.read(reader, 1)  # this process writes nothing

    with pytest.raises(KeyboardInterrupt), beside(never_ends, TWO):
        raise KeyboardInterrupt
    os.close(writer)
    assert_gone(started)
