"""Copies: an asynchronous one into a tensor blocks nobody if the source is pinned, and small or without gaps."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
    class Step:
        def __init__(self) -> None:
            self.pin = torch.zeros({size}, pin_memory={is_pinned})
            self.gpu = torch.zeros({size}, device="cuda")
        def step(self) -> None:
            self.gpu.copy_(self.pin, non_blocking={is_asynchronous})
"""
KEPT = "no code changes the size of a tensor that is made with literal sizes"


@pytest.mark.parametrize("size", ["8", "(8, 4)", "8, 4"])
def test_a_small_copy_from_pinned_memory_is_proved(size: str) -> None:
    program = PROGRAM.format(size=size, is_pinned=True, is_asynchronous=True)
    certificate = proved(program, entry="Step.step")
    assert certificate.is_proved
    assert KEPT in certificate.assumptions


@pytest.mark.parametrize(
    ("size", "is_pinned", "is_asynchronous"),
    [("8", True, False), ("2 ** 30", True, True), ("1000000000", True, True), ("1000000000", False, True)],
)
def test_other_copies_are_not(size: str, *, is_pinned: bool, is_asynchronous: bool) -> None:
    program = PROGRAM.format(size=size, is_pinned=is_pinned, is_asynchronous=is_asynchronous)
    assert not proved(program, entry="Step.step").is_proved


@pytest.mark.parametrize("size", ["*[8] * 9", "8, *[8] * 9", "*(8,) * 9"])
def test_a_star_stands_for_any_number_of_sizes(size: str) -> None:
    program = PROGRAM.format(size=size, is_pinned=True, is_asynchronous=True)
    assert not proved(program, entry="Step.step").is_proved


def test_a_star_of_known_sizes_is_proved() -> None:
    program = PROGRAM.format(size="*(8, 4)", is_pinned=True, is_asynchronous=True)
    assert proved(program, entry="Step.step").is_proved


def test_the_missing_size_is_named() -> None:
    program = PROGRAM.format(size="int(input())", is_pinned=True, is_asynchronous=True)
    (obstacle,) = proved(program, entry="Step.step").obstacles
    assert (
        obstacle.fact
        == "make the source by `torch.zeros`, with `pin_memory=True` and a size of literal numbers"
    )


@pytest.mark.parametrize("annotation", ["torch.nn.utils.rnn.PackedSequence", "object"])
def test_padding_may_copy_the_order_of_a_packed_sequence(annotation: str) -> None:
    program = f"""
        def step(packed: {annotation}) -> None:
            torch.nn.utils.rnn.pad_packed_sequence(packed)
    """
    assert [each.finding.line for each in proved(program).obstacles] == [4]
