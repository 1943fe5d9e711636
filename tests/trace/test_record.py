"""The recorder tells stacks apart, in whatever order they block."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.trace.hook._syncscan_hook.record import DEPTH, WaitRecorder


def at(way: list[int], block: Callable[[FrameType], None]) -> None:
    """Go deeper for each step of the way, on two lines or through functions that differ in nothing but their file, and block at its end."""
    if not way:
        block(sys._getframe())
    elif way[0] == 0:
        at(way[1:], block)
    elif way[0] == 1:
        at(way[1:], block=block)
    else:
        TWINS[way[0] == 2](at, way[1:], block)


TWINS = [
    eval(compile("lambda at, way, block: at(way, block)", name, "eval")) for name in ("one.py", "two.py")
]


def stack_of(frame: FrameType | None) -> tuple[int, ...]:
    """The innermost frames, each with its code object and the offset of its instruction."""
    stack: list[int] = []
    while frame is not None and len(stack) < 2 * len(DEPTH):
        stack += id(frame.f_code), frame.f_lasti
        frame = frame.f_back
    return tuple(stack)


short = st.lists(st.integers(0, 3), max_size=4)
deep = st.builds(
    lambda inner, middle, outer: [*inner, *[0] * middle, *outer], short, st.integers(50, 70), short
)


blocks = st.tuples(
    short | deep, st.sampled_from(["cudaMemcpyAsync", "cudaStreamSynchronize"]), st.sampled_from("ab")
)


@settings(max_examples=50)
@given(st.lists(blocks, max_size=12))
def test_each_stack_has_an_entry_of_its_own(waits: list[tuple[list[int], str, str]]) -> None:
    recorder = WaitRecorder()
    expected: dict[object, int] = {}

    def block(frame: FrameType, api: str) -> None:
        entry = recorder.entry_at(frame, api)
        key = (stack_of(frame), api, recorder.phase)
        assert (entry.stack, entry.api, entry.phase) == key
        assert expected.setdefault(key, entry.id) == entry.id
        assert [(id(code), offset) for code, offset in entry.positions] == list(
            zip(entry.stack[::2], entry.stack[1::2], strict=True)
        )

    for way, api, recorder.phase in waits:
        at(way, partial(block, api=api))
    assert len(recorder.entries) == len(expected)


def test_stacks_that_differ_below_what_is_recorded_are_one() -> None:
    recorder = WaitRecorder()

    def block(frame: FrameType) -> None:
        recorder.entry_at(frame, "cudaStreamSynchronize")

    for outer in range(3):
        at([outer, *[0] * len(DEPTH)], block)
    assert len(recorder.entries) == 1


@pytest.mark.parametrize("is_outermost", [[True, False], [False, True]])
def test_a_stack_that_is_the_inner_part_of_another_is_not_the_other(is_outermost: list[bool]) -> None:
    recorder = WaitRecorder()
    ended = _thread.allocate_lock()

    def run() -> None:
        try:
            at([], lambda frame: recorder.entry_at(frame, "cudaStreamSynchronize"))
        finally:
            ended.release()

    def call(function: Callable[[], None]) -> None:
        function()

    for alone in is_outermost:
        ended.acquire()
        _thread.start_new_thread(*((run, ()) if alone else (call, (run,))))
        with ended:
            pass
    assert sorted(len(entry.stack) for entry in recorder.entries.values()) == [4, 6]
