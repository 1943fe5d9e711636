"""What CUDA refuses to pin, the simulated GPU refuses too, in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from syncscan.simulate.context import SimulatedSync, simulated_cuda


@pytest.fixture
def seen() -> Iterator[list[SimulatedSync]]:
    with simulated_cuda() as syncs:
        yield syncs


REFUSED: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "an array": (lambda: torch.tensor(np.ones(3), pin_memory=True), "constructed from numpy"),
    "an array of one number": (lambda: torch.tensor(np.array(1), device="cuda", pin_memory=True), "constructed from numpy"),
    "a tensor": (lambda: torch.tensor(torch.ones(3), pin_memory=True), "constructed from a variable"),
    "memory of the GPU": (lambda: torch.zeros(3, device="cuda", pin_memory=True), "Only dense CPU tensors"),
    "elements that share memory": (lambda: torch.ones(1).expand(3).pin_memory(), "more than one element"),
}  # fmt: skip


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_what_cuda_cannot_pin_is_refused(refused: str) -> None:
    call, message = REFUSED[refused]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_what_is_pinned_keeps_its_layout(seen: list[SimulatedSync]) -> None:
    columns = torch.arange(6).reshape(2, 3).t()
    assert columns.pin_memory().stride() == (1, 3)
    assert columns[:, :1].pin_memory().tolist() == [[0], [1], [2]]
    made = torch.tensor([1, 2], device="cuda", pin_memory=True)
    assert (made.device.type, made.is_pinned()) == ("cuda", False)
    assert [sync.effect for sync in seen] == ["upload"]
