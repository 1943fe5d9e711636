"""What tests of whole programs share: what a program may give, and how its results are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from syncscan.simulate.context import simulated_cuda

Program = Callable[[str], Any]


class Host:
    """A result that lies on the host, wherever the program runs."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def ramp(device: str, *shape: int) -> torch.Tensor:
    return torch.arange(1.0, 1.0 + int(np.prod(shape))).reshape(shape).to(device)


def described(result: Any, device: str) -> Any:
    """A result in terms that are the same wherever the program ran."""
    if isinstance(result, Host):
        return described(result.tensor, "cpu")
    if isinstance(result, torch.Tensor):
        assert result.device.type == device, result
        plain = result.detach().as_subclass(torch.Tensor).cpu()
        return type(result).__name__, plain.dtype, plain.stride(), plain.tolist(), result.requires_grad
    if isinstance(result, (tuple, list)):
        return [described(item, device) for item in result]
    return device if result in ("cpu", "cuda") else result


def check_program(program: Program) -> None:
    """A program gives simulated what it gives on the CPU, on the host and on the GPU."""
    expected = described(program("cpu"), "cpu")
    with simulated_cuda():
        on_host = described(program("cpu"), "cpu")
        on_cuda = described(program("cuda"), "cuda")
    assert str(on_host) == str(expected)
    assert str(on_cuda).replace("cuda", "cpu") == str(expected)
