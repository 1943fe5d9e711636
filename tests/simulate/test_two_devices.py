"""Two simulated GPUs are two places, as a GPU and the host are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from syncscan.simulate.context import simulated_cuda

Both = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@pytest.fixture(autouse=True)
def _simulated() -> Iterator[None]:
    with simulated_cuda(devices=2):
        yield


@pytest.mark.parametrize(
    "call",
    [
        torch.add,
        torch.dot,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: a * b.sum(),  # a number, but one that lies on a GPU
        lambda a, b: a * b.sum().requires_grad_(),
    ],
    ids=["add", "dot", "cat", "add_", "number", "number with gradient"],
)
def test_operands_on_both_are_refused(call: Both) -> None:
    a, b = torch.ones(3, device="cuda:1"), torch.ones(3, device="cuda:0")
    with pytest.raises(RuntimeError, match="at least two devices, cuda:1 and cuda:0"):
        call(a, b)
    with pytest.raises(RuntimeError, match=r"on the same device as the indexed tensor \(cuda:1\)"):
        a[b.long()]
    assert torch.equal(a.copy_(b), torch.ones(3, device="cuda:1"))
    with pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cuda:1"):
        call(b, a)


@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 3, 3)])
@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_where_operands_lie_is_asked_before_their_dtype(device: str, shape: tuple[int, ...]) -> None:
    a = torch.ones(shape, dtype=torch.bool, device="cuda:0")
    b = torch.ones(shape, dtype=torch.bool, device=device)
    for first, second in ((a, b), (b, a)):
        with pytest.raises(RuntimeError, match="at least two devices"):
            torch.matmul(first, second)


def test_a_number_of_the_host_comes_where_no_operation_looks_for_it() -> None:
    x, index = torch.ones(3, device="cuda:0"), torch.tensor(0)
    for taken in (x + index, index * x, torch.where(x > 0, x, index), x[index], x.masked_fill(x > 2, index)):
        assert str(taken.device) == "cuda:0"
    for refused in (
        lambda: x[0].gather(0, index),
        lambda: x.index_select(0, index),
        lambda: x.scatter(0, index, x[0]),
        lambda: torch.stack([x[0], torch.tensor(1.0)]),
    ):
        with pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu"):
            refused()


def test_what_lies_on_one_is_trained_there() -> None:
    parameters = [torch.nn.Parameter(torch.ones(2, device=f"cuda:{i}")) for i in (0, 1)]
    optimizer = torch.optim.Adam(parameters, lr=0.1, foreach=True)
    for _ in range(2):
        sum(parameter.sum().to("cuda:0") for parameter in parameters).backward()  # type: ignore[union-attr]
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
    assert str(norm.device) == "cuda:0"
    assert [str(parameter.device) for parameter in parameters] == ["cuda:0", "cuda:1"]
    assert [str(optimizer.state[p]["exp_avg"].device) for p in parameters] == ["cuda:0", "cuda:1"]
    assert torch.allclose(parameters[0].cpu(), torch.tensor(0.8), atol=1e-3)
    assert torch.equal(parameters[0].cpu(), parameters[1].cpu())


@pytest.mark.parametrize(
    ("device", "kind", "expected"),
    [("cuda:1", "cuda.", "cuda:1"), ("cpu", "cuda.", "cuda:0"), ("cuda:1", "", "cpu")],
)
def test_a_legacy_type_names_no_device(device: str, kind: str, expected: str) -> None:
    assert str(torch.ones(2, device=device).type(f"torch.{kind}DoubleTensor").device) == expected


@pytest.mark.parametrize("source", ["cpu", "cuda:0", "cuda:1"])
@pytest.mark.parametrize("target", ["cpu", "cuda:0", "cuda:1"])
def test_a_number_is_assigned_from_anywhere(target: str, source: str) -> None:
    x = torch.zeros(2, 2, device=target)
    x[0] = torch.tensor(3.0, device=source)
    x[1].fill_(torch.tensor(4.0, device=source))
    assert (str(x.device), x.tolist()) == (target, [[3, 3], [4, 4]])


@pytest.mark.parametrize("set_device", ["torch.cuda.set_device", "torch.accelerator.set_device_index"])
def test_a_device_without_an_index_is_not_set(set_device):
    module, _, name = set_device.removeprefix("torch.").partition(".")
    setter = getattr(getattr(torch, module), name)
    with simulated_cuda(devices=2):
        for device in ("cuda", torch.device("cuda"), "cpu", torch.device("cpu")):
            with pytest.raises(ValueError, match=r"Expected a|match the current"):
                setter(device)
        setter("cuda:1")
        setter(-1)  # as torch has it, nothing
        assert torch.cuda.current_device() == 1


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float64])
@pytest.mark.parametrize("number", [3, 0.1, 1 + 2j])
def test_a_number_in_front_of_a_tensor_is_as_one_behind_it(number: complex, dtype: torch.dtype) -> None:
    operand = torch.arange(3, dtype=dtype, device="cuda")
    found, expected = torch.ops.aten.mul.Tensor(number, operand), operand * number
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
