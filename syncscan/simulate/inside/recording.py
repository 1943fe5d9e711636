"""The contents of a CUDA graph: kernels that ran once and can run again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from .kinds import tensors_in
from .marks import is_alias, without_functions


class GraphRecording:
    """The kernels of one capture."""

    def __init__(self) -> None:
        self._again: list[Callable[[], None]] = []

    def add(self, run: Callable[[], Any], operands: Any, made: Any) -> None:
        """Append a kernel: a function that runs it, its operands, and its results."""
        self._again.append(partial(_run_again, run, [*_own(made, tensors_in(operands))]))

    def replay(self) -> None:
        """Run all recorded kernels in order."""
        with torch.no_grad(), without_functions(), torch._C._DisableTorchDispatch():
            for again in self._again:
                again()


def _own(made: Any, operands: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Return the results of a kernel, with None in place of a result that is an operand written in place."""
    return [
        None if any(is_alias(result, operand) for operand in operands) else result
        for result in tensors_in(made)
    ]


def _run_again(run: Callable[[], Any], results: list[torch.Tensor | None]) -> None:
    for kept, made in zip(results, tensors_in(run())):
        if kept is not None:
            torch.Tensor.copy_(kept, made)
