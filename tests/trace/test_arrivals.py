"""Which signals were sent to one process and which to all, by when they reached the two processes of a trace."""

from __future__ import annotations

import signal

import pytest

from syncscan.trace.arrivals import TOGETHER_SECONDS, Arrivals

INT, USR1, CONT, TSTP = signal.SIGINT, signal.SIGUSR1, signal.SIGCONT, signal.SIGTSTP
LATER = 10.0


def settled(*arrivals: tuple[str, int, float], now: float = LATER) -> list[tuple[int, bool]]:
    """What is told of (who, signal, time): (signal, whether it was for all)."""
    seen = Arrivals()
    for who, number, when in arrivals:
        seen.add(number, when, when, at_front=who == "front")
    return [(sent.number, sent.to_all) for sent in seen.settle(now)]


@pytest.mark.parametrize("first", ["front", "behind"])
def test_what_reaches_one_process_is_for_one(first):
    assert settled((first, INT, 1.0)) == [(INT, False)]


@pytest.mark.parametrize("apart", [0.0, 0.9 * TOGETHER_SECONDS, -0.9 * TOGETHER_SECONDS])
def test_what_reaches_both_at_once_is_for_all_and_told_once(apart):
    assert settled(("front", INT, 1.0), ("behind", INT, 1.0 + apart)) == [(INT, True)]


@pytest.mark.parametrize("apart", [1.1 * TOGETHER_SECONDS, -1.1 * TOGETHER_SECONDS])
def test_what_reaches_them_apart_was_sent_twice(apart):
    assert settled(("front", INT, 1.0), ("behind", INT, 1.0 + apart)) == [(INT, False), (INT, False)]


def test_one_process_after_the_other_gives_their_order():
    arrivals = [("behind", INT, 1.02), ("front", USR1, 1.01), ("front", TSTP, 1.0)]
    assert settled(*arrivals) == [(TSTP, False), (USR1, False), (INT, False)]


@pytest.mark.parametrize("merged", ["front", "behind"])
def test_two_for_all_that_the_kernel_merged_in_one_process_are_for_all(merged):
    other = "front" if merged == "behind" else "behind"
    found = settled((merged, INT, 1.0), (other, INT, 1.0), (other, INT, 1.05))
    assert {to_all for _, to_all in found} == {True}


def test_nothing_is_told_before_the_other_process_had_its_time():
    seen = Arrivals()
    seen.add(INT, 1.0, 1.0, at_front=True)
    assert seen.next_due == 1.0 + TOGETHER_SECONDS
    assert seen.settle(1.0 + 0.9 * TOGETHER_SECONDS) == []
    seen.add(INT, 1.0, 1.5, at_front=False)  # a busy process cannot say when it was reached
    assert [(sent.number, sent.to_all) for sent in seen.settle(1.5)] == [(INT, True)]
    assert seen.settle(LATER) == []
    assert seen.next_due == float("inf")


@pytest.mark.parametrize(("first", "second"), [(TSTP, CONT), (CONT, TSTP)])
def test_going_on_takes_back_a_stop_and_the_reverse(first, second):
    assert settled(("front", first, 1.0), ("front", second, 1.01)) == [(second, False)]
    everywhere = [
        (who, number, when) for number, when in ((first, 1.0), (second, 1.01)) for who in ("front", "behind")
    ]
    assert settled(*everywhere) == [(second, True)]
