"""Which reads of the host see numbers that were not computed, or were made of such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside.stores import written

_library = torch.library.Library("syncscan_taint", "DEF")  # its operations have no kernel here
_library.define("norm(Tensor x) -> Tensor")
_library.define("fill(Tensor x, Tensor(a!) out) -> ()")


@torch.library.register_fake("syncscan_taint::norm")
def _norm(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


_operations = torch.ops.syncscan_taint
DERIVED: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "itself": lambda lost, known: lost,
    "a view": lambda lost, known: lost[:2].view(2, 1),
    "what is computed of it": lambda lost, known: (known + lost).sum(),
    "what is written with it": lambda lost, known: known.add_(lost),
    "what it is put into": lambda lost, known: (known.__setitem__(0, lost[0]), known)[1],
    "what it is copied into": lambda lost, known: known.copy_(lost),
    "what is kept apart": lambda lost, known: lost.clone().detach().to(torch.int32),
    "what is taken by it": lambda lost, known: known[lost.long()],
    "one of several": lambda lost, known: torch.cat([known, lost]).split(4)[0],
    "what is not": lambda lost, known: known + 1,
    "its shape": lambda lost, known: torch.zeros_like(lost) + lost.new_ones(4),
    "what fills it anew": lambda lost, known: lost.copy_(known),
    "a number": lambda lost, known: lost.fill_(3),
}
CLEAN = {"what is not", "its shape", "what fills it anew", "a number"}


@pytest.mark.parametrize("what", DERIVED)
@pytest.mark.parametrize("seen_by_modes", [False, True])
def test_a_read_of_what_comes_from_an_uncomputed_kernel_is_told(what: str, seen_by_modes: bool) -> None:
    with simulated_cuda() as waits:
        known = torch.ones(4, device="cuda", requires_grad=False)
        lost = _operations.norm(known)
        if seen_by_modes:  # and not run without them, as where all operands lie in one place
            with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
                derived = DERIVED[what](lost, known)
        else:
            derived = DERIVED[what](lost, known)
        waits.clear()
        derived.tolist()
    assert [wait.uncomputed for wait in waits] == [what not in CLEAN]


def test_what_an_operation_writes_was_not_computed_and_its_input_was() -> None:
    with simulated_cuda() as waits:
        x, out = torch.ones(4, device="cuda"), torch.ones(4, device="cuda")
        _operations.fill(x, out)
        out[:2] = 3.0  # which fills a part
        _operations.norm(x)
        waits.clear()
        bool(x.any()), bool(out.any())
    assert [wait.uncomputed for wait in waits] == [False, True]


def test_without_such_a_kernel_nothing_is_told() -> None:
    with simulated_cuda() as waits:
        torch.ones(4, device="cuda").tolist()
    assert [wait.uncomputed for wait in waits] == [False]


def kernel(x_ptr: Any, out_ptr: Any, count_ptr: Any, size: int, tl: Any = None) -> None:
    offsets = size + tl.arange(0, 4)
    rows = out_ptr + offsets
    tl.store(rows, tl.load(x_ptr + offsets))
    tl.atomic_add(count_ptr, 1)


def test_a_kernel_writes_where_its_source_stores() -> None:
    assert written(kernel, ("x", "out"), {"count_ptr": "count", "size": 4}) == ["out", "count", 4]
    assert written(print, ("x",), {}) == []


def scatter(x_ptr: Any, rows_ptr: Any, out_ptr: Any, tl: Any = None) -> None:
    row = tl.load(rows_ptr + tl.program_id(0)).to(tl.int64)
    at = out_ptr + row * 4
    tl.store(at, tl.load(x_ptr))


def test_a_kernel_does_not_write_the_indices_that_it_loads() -> None:
    assert written(scatter, ("x", "rows", "out"), {}) == ["out"]
