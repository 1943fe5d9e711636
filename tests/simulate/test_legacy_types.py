"""``torch.cuda.FloatTensor`` and its like make what their twins for the CPU make, on the simulated GPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from syncscan.simulate.context import SimulatedSync, simulated_cuda


@pytest.fixture(autouse=True)
def seen() -> Iterator[list[SimulatedSync]]:
    with simulated_cuda() as syncs:
        yield syncs


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "BoolTensor", "BFloat16Tensor"])
@pytest.mark.parametrize("arguments", [([1, 0],), ((1, 0),), ([[1, 0]],), ([],), (np.array([1.0, 0.0]),)])
def test_numbers(name: str, arguments, seen: list[SimulatedSync]) -> None:
    kind, twin = getattr(torch.cuda, name), getattr(torch, name)
    expected, made = twin(*arguments), kind(*arguments)
    assert made.device == torch.device("cuda", 0)
    assert (made.dtype, kind.dtype) == (expected.dtype, expected.dtype)
    assert torch.equal(made.cpu(), expected)
    assert isinstance(made, kind)
    assert not isinstance(expected, kind)
    assert bool(seen) is bool(expected.numel())


@pytest.mark.parametrize("arguments", [(), (2,), (2, 3), (torch.Size([2, 3]),)])
def test_sizes(arguments, seen: list[SimulatedSync]) -> None:
    made = torch.cuda.DoubleTensor(*arguments)
    assert made.shape == torch.DoubleTensor(*arguments).shape
    assert (made.device.type, made.dtype) == ("cuda", torch.float64)
    assert not seen


def test_a_tensor_is_shared_and_has_to_be_of_the_type() -> None:
    x = torch.zeros(2, device="cuda")
    torch.cuda.FloatTensor(x).fill_(1)
    assert x.tolist() == [1, 1]
    for other in (torch.zeros(2), torch.zeros(2, device="cuda", dtype=torch.float64)):
        with pytest.raises(TypeError, match=r"expected torch\.cuda\.FloatTensor"):
            torch.cuda.FloatTensor(other)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_sparse_types() -> None:
    indices, values = torch.tensor([[0, 2]], device="cuda"), torch.tensor([1.0, 2.0], device="cuda")
    made = torch.cuda.sparse.FloatTensor(indices, values, torch.Size([3]))
    assert isinstance(made, torch.cuda.sparse.FloatTensor)
    assert not isinstance(made, torch.cuda.FloatTensor)
    assert made.to_dense().tolist() == [1, 0, 2]
    empty = torch.cuda.sparse.FloatTensor(2, 3)
    assert (empty.shape, empty.device.type) == (torch.Size([2, 3]), "cuda")


def test_conversion_to_a_type() -> None:
    x = torch.ones(2)
    assert isinstance(x.type(torch.cuda.LongTensor), torch.cuda.LongTensor)
    assert isinstance(x.cuda().type("torch.cuda.HalfTensor"), torch.cuda.HalfTensor)


@pytest.mark.filterwarnings("ignore:.*is deprecated as of PyTorch 2.1:UserWarning")
@pytest.mark.parametrize("kind", [lambda: torch.cuda.DoubleTensor, lambda: "torch.cuda.DoubleTensor"])
def test_one_may_be_the_default_type(kind) -> None:
    torch.set_default_tensor_type(kind())
    try:
        made = torch.zeros(2), torch.tensor([1.0])
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    assert {(tensor.device.type, tensor.dtype) for tensor in made} == {("cuda", torch.float64)}
    assert (torch.zeros(2).device.type, torch.zeros(2).dtype) == ("cpu", torch.float32)


@pytest.mark.parametrize("arguments", [("a",), (None,), ([1, "a"],)])
@pytest.mark.parametrize("options", [{}, {"other": 1}])
def test_wrong_arguments_have_the_message_of_the_type_for_the_cpu(arguments, options) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        torch.FloatTensor(*arguments, **options)
    with pytest.raises((TypeError, ValueError)) as found:
        torch.cuda.FloatTensor(*arguments, **options)
    assert str(found.value) == str(expected.value)
    assert [entry.name for entry in found.traceback] == [entry.name for entry in expected.traceback]
