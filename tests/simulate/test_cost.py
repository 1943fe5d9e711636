"""Each call of torch costs few calls of Python: what can be decided once for an operation is not asked again."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
import torch

from syncscan.simulate import inside
from syncscan.simulate.context import simulated_cuda

_OURS = str(Path(inside.__file__).parent)

CALLS: dict[str, tuple[Callable[[torch.Tensor], object], int]] = {
    "a number of the host": (lambda x: x.shape, 1),
    "arithmetic": (lambda x: x + x, 7),
    "arithmetic with a number": (lambda x: x * 2.0, 8),
    "a view": (lambda x: x.view(-1), 8),
    "a part": (lambda x: x[:, 1:], 13),
    "tensors in a list": (lambda x: torch.cat([x, x]), 9),
    "a module's function": (lambda x: torch.nn.functional.linear(x, x), 7),
}


@pytest.mark.parametrize("name", CALLS)
def test_operation_costs_few_calls_of_python(name: str) -> None:
    call, most = CALLS[name]
    with simulated_cuda():
        operand = torch.ones(4, 4, device="cuda")
        call(operand)
        assert _calls_of_ours(lambda: call(operand)) <= most


def _calls_of_ours(run: Callable[[], object]) -> int:
    seen = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal seen
        seen += event == "call" and frame.f_code.co_filename.startswith(_OURS)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return seen


MOST_FRAMES = 20  # as docs/simulate.md says

DEEP: dict[str, Callable[[torch.Tensor], object]] = {
    "a number": lambda x: x[0, 0].item(),
    "an attribute": lambda x: x.device,
    "a constructor": lambda x: torch.zeros(2, device=x.device),
    "a tensor of numbers": lambda x: torch.tensor([1.0], device=x.device),
    "a transfer": lambda x: x.to("cpu"),
    "a part that is set": lambda x: x.__setitem__(0, 1.0),
    "an index by a mask": lambda x: x[x > 0],
    "backward": lambda x: (x.clone().requires_grad_() * 2).sum().backward(),
}


@pytest.mark.parametrize("name", DEEP)
def test_a_call_takes_few_frames_more_than_on_the_cpu(name: str) -> None:
    on_cpu = _frames_taken(DEEP[name], torch.ones(4, 4))
    with simulated_cuda():
        assert _frames_taken(DEEP[name], torch.ones(4, 4, device="cuda")) <= on_cpu + MOST_FRAMES


def _frames_taken(call: Callable[[torch.Tensor], object], operand: torch.Tensor) -> int:
    """Return how much of the limit of the recursion a call needs once it has run."""
    for _ in range(3):
        call(operand)
    depth = sum(1 for _ in traceback.walk_stack(sys._getframe()))
    before = sys.getrecursionlimit()
    taken = 0
    while True:
        taken += 1
        try:
            sys.setrecursionlimit(depth + taken)
            call(operand)
        except RecursionError:
            continue
        finally:
            sys.setrecursionlimit(before)
        return taken
