"""Each call of torch costs few calls of Python: what can be decided once for an operation is not asked again."""

from __future__ import annotations

import sys
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
