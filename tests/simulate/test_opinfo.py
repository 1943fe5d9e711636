"""Operations give what the CPU gives, and the benchmark that asks all of them says where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from benchmarks import opinfo
from syncscan.simulate.context import simulated_cuda

# Under a dispatch mode torch offers other formulas, or forgets conjugates.
SAME: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.dtype]] = {
    "silu": (torch.nn.functional.silu, torch.float32),
    "mish": (torch.nn.functional.mish, torch.float32),
    "lstsq": (lambda a: torch.linalg.lstsq(a[:2], a[2:4]).solution, torch.complex64),
    "pinv of a conjugate": (lambda a: torch.ops.aten.linalg_pinv(a[:2].mH.conj()), torch.complex64),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_results_and_gradients_are_those_of_the_cpu(name: str, device: str) -> None:
    operation, dtype = SAME[name]

    def results(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        a = torch.randn(20, 3, dtype=dtype).to(device).requires_grad_()
        result = operation(a).resolve_conj()
        (torch.view_as_real(result) if dtype.is_complex else result).sum().backward()
        assert a.grad is not None
        return [result.detach().cpu(), a.grad.cpu()]

    expected = results("cpu")
    with simulated_cuda():
        found = results(device)
    if dtype.is_complex:  # LAPACK rounds by how memory is aligned
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    else:
        assert all(map(torch.equal, found, expected))


def _found(values: list[float], **other: str) -> dict[str, Any]:
    seen = {"values": torch.tensor(values), "dtype": "f", "strides": [[1], [1]], "device": "cpu"}
    return {"results": [seen | other]}


@pytest.mark.parametrize(
    ("expected", "found", "kinds"),
    [
        (_found([1.0]), _found([1.0]), []),
        (_found([float("nan")]), _found([float("nan")]), []),
        (_found([1.0]), _found([1.0000001]), ["values"]),
        (_found([1.0]), _found([1.0], device="cuda:0", dtype="g"), ["dtype", "device"]),
        (_found([1.0]), {"error": "E: no"}, ["error"]),
        ({"error": "E: no"}, {"error": "E: no"}, []),
        (_found([1.0]) | {"gradients": "E: no"}, _found([1.0]) | {"gradients": []}, ["gradients"]),
    ],
)
def test_each_kind_of_difference_is_told(expected: Any, found: Any, kinds: list[str]) -> None:
    assert [kind for kind, _ in opinfo.differences(expected, found, None)] == kinds


def test_a_difference_without_a_reason_fails() -> None:
    row = {"operation": "empty", "dtype": "f", "samples": 1, "examples": {}}
    declared = row | {"differences": {"simulated GPU: values": 1}}
    other = row | {"differences": {"simulated GPU: dtype": 1}, "examples": {"simulated GPU: dtype": "f / g"}}
    assert list(opinfo.unexplained_in([declared])) == []
    assert list(opinfo.unexplained_in([other])) == ["empty f simulated GPU: dtype: f / g"]
    assert "| dtype | 0 | 1 |" in opinfo.table([other])
