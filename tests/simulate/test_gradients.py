"""Gradients lie where their tensors do, whatever ran before in the process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from syncscan.simulate.context import simulated_cuda

Build = Callable[[torch.Tensor], torch.Tensor]


def index(like: torch.Tensor, *values: int) -> torch.Tensor:
    return torch.tensor(values, device=like.device)


BUILDS: dict[str, Build] = {
    "index": lambda a: a[index(a, 0, 1)],
    "index_put": lambda a: torch.zeros_like(a).index_put((index(a, 0, 1, 2),), a),
    "sort": lambda a: a.sort().values,
    "max": lambda a: a.max(0).values,
    "kthvalue": lambda a: a.kthvalue(1).values,
    "median": lambda a: a.median(),
    "unbind": lambda a: a.unbind()[0],
    "split": lambda a: a.split(2)[0],
    "gather": lambda a: a.gather(0, index(a, 0)),
    "take": lambda a: a.take(index(a, 0)),
    "diag_embed": torch.diag_embed,
    "copy_": lambda a: torch.zeros_like(a).copy_(a),
    "setitem": lambda a: torch.zeros(2, 3, device=a.device).index_fill_(0, index(a, 0), 1) * a,
    "svdvals": lambda a: torch.linalg.svdvals(torch.diag(a)),
    "unfold": lambda a: a.unfold(0, 2, 1)[0],
    "as_strided": lambda a: a.as_strided((2,), (1,)),
    "cummax": lambda a: a.cummax(0).values,
}


@pytest.fixture(autouse=True)
def _simulated() -> Iterator[None]:
    """Each test comes after a backward on the GPU and one on the host."""
    with simulated_cuda(devices=2):
        for device in ("cuda", "cpu"):
            leaf(device).sort().values.sum().backward()
        yield


def leaf(device: str) -> torch.Tensor:
    return torch.tensor([3.0, 1.0, 2.0], device=device, requires_grad=True)


def expected(build: Build) -> list[float]:
    plain = leaf("cpu")
    build(plain).sum().backward()
    assert plain.grad is not None
    return plain.grad.tolist()


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:1"])
@pytest.mark.parametrize("name", BUILDS)
def test_a_gradient_lies_where_its_tensor_does(name: str, device: str) -> None:
    for last in ("cuda", "cpu"):
        a, other = leaf(device), leaf(last)
        loss = BUILDS[name](a).sum()
        other.mul(2).sum().backward()
        loss.backward()
        assert a.grad is not None
        assert a.grad.device == a.device
        assert a.grad.tolist() == expected(BUILDS[name])


@pytest.mark.parametrize(("source", "target"), [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda:1")])
@pytest.mark.parametrize("name", BUILDS)
def test_a_gradient_travels_back(name: str, source: str, target: str) -> None:
    a = leaf(source)
    (grad,) = torch.autograd.grad(BUILDS[name](a.to(target)).sum(), a)
    assert grad.device == a.device
    assert grad.tolist() == expected(BUILDS[name])


@pytest.mark.parametrize(("source", "target"), [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda:1")])
def test_a_copy_into_other_memory_takes_the_gradient_back(source: str, target: str) -> None:
    a, b = leaf(source), leaf(source)
    whole, part = torch.zeros(3, device=target), torch.zeros(3, device=target)
    whole.copy_(a)
    part[:2] = b[:2]
    (whole.sort().values.sum() + (part * part).sum()).backward()
    for tensor, values in ((a, [1, 1, 1]), (b, [6, 2, 0])):
        assert tensor.grad is not None
        assert tensor.grad.device == tensor.device
        assert tensor.grad.tolist() == values


def test_a_number_on_the_host_gets_its_gradient_there() -> None:
    weight, parts = torch.tensor(2.0, requires_grad=True), leaf("cpu")
    x = leaf("cuda").detach()
    ((x * weight + parts.sum() * x).sort().values[:2]).sum().backward()
    for tensor in (weight, parts):
        assert tensor.grad is not None
        assert tensor.grad.is_cpu
    assert weight.grad is not None
    assert weight.grad.tolist() == 3
    (grad,) = torch.autograd.grad((x * weight).sum(), weight)
    assert grad.is_cpu


class Upload(torch.autograd.Function):
    """A move between devices as a program may write it."""

    @staticmethod
    def forward(ctx, x, device):
        ctx.device = x.device
        return x.to(device), x.to(device) * 2

    @staticmethod
    def backward(ctx, grad, unused):
        assert unused.device == grad.device
        return (grad + unused).to(ctx.device), None


@pytest.mark.parametrize(("source", "target"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_a_function_of_the_program_may_move(source: str, target: str) -> None:
    a = leaf(source)
    Upload.apply(a, target)[0].sort().values[:2].sum().backward()
    assert a.grad is not None
    assert a.grad.device == a.device
    assert a.grad.tolist() == [0, 1, 1]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_a_hook_makes_goes_where_it_says(device: str) -> None:
    made = []

    def hook(grad: torch.Tensor) -> None:
        made.extend([torch.zeros(2), torch.eye(2), torch.tensor([1.0]), torch.ones(2).sort().values])
        made.extend(t.clone() for t in tuple(made))

    a = leaf(device)
    y = a * 2
    y.register_hook(hook)
    y.sum().backward()
    assert len(made) == 8
    assert all(tensor.is_cpu for tensor in made)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_gradient_of_a_gradient(device: str) -> None:
    a = leaf(device)
    (first,) = torch.autograd.grad((a.to("cuda").sort().values ** 3).sum(), a, create_graph=True)
    first.sort().values.sum().backward()
    assert first.device == a.device
    assert a.grad is not None
    assert a.grad.device == a.device
    assert a.grad.tolist() == [18, 6, 12]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch warns about itself
@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacrev, torch.func.jacfwd])
@pytest.mark.parametrize("source", ["cpu", "cuda"])
def test_transforms_follow_a_move(transform, source: str) -> None:
    result = transform(lambda x: (x.to("cuda").sort().values ** 2).sum())(leaf(source).detach())
    assert result.device.type == ("cuda" if transform is torch.func.jacfwd else source)
    assert result.tolist() == [6, 2, 4]


def test_a_long_chain_takes_linear_time() -> None:
    """Where a gradient belongs is asked of the graph, and each part of it answers once."""
    y = a = leaf("cuda")
    for _ in range(3000):
        y = y.unbind()[0].expand(3)
    y.sum().backward()
    assert a.grad is not None
    assert a.grad.is_cuda


def test_a_wait_in_a_hook_counts_once() -> None:
    a = leaf("cuda")
    y = a * 2
    y.register_hook(lambda grad: (grad[grad > 0], None)[1])
    with simulated_cuda() as seen:
        y.sum().backward()
    assert [sync.api for sync in seen] == ["torch.Tensor.__getitem__"]


def stored(target: torch.Tensor, index: Any, values: torch.Tensor) -> torch.Tensor:
    target[index] = values
    return target


# Blocking calls of the backward as on an H200 (torch 2.11). Those of zeros follow from torch's formula.
BLOCKING: dict[str, tuple[Build, int]] = {
    "prod": (lambda a: a.prod(), 1),
    "prod of a dimension": (lambda a: a.prod(0), 1),
    "prod of zeros": (lambda a: (a - 1).prod(), 1),
    "prod of a number": (lambda a: a.sum().prod(), 0),
    "two products": (lambda a: a.prod() * a.prod(0), 2),
    "cumprod": (lambda a: a.cumprod(0), 1),
    "cumprod of zeros": (lambda a: (a - 1).cumprod(0), 3),
    "cumprod of one": (lambda a: a[:1].cumprod(0), 0),
    "mask": (lambda a: a[a > 1], 1),
    "list": (lambda a: a[[0, 1]], 0),
    "range": (lambda a: a[range(2)], 0),
    "list in a tuple": (lambda a: a[None, [0, 1, 1]], 0),
    "list of booleans": (lambda a: a[[True, False, True]], 1),
    "array": (lambda a: a[np.array([2, 0], np.int32)], 0),
    "array of booleans": (lambda a: a[np.array([True, False, True])], 1),
    "positions of the host": (lambda a: a[torch.tensor([0, 1])], 0),
    "store by a list": (lambda a: stored(a * 1, [0, 1], a[1:] * 2), 0),
    "store by positions of the host": (lambda a: stored(a * 1, torch.tensor([2]), a[:1] * 2), 0),
    "store through a mask": (lambda a: stored(a * 1, a > 1, a[:2] * 2), 2),
    "masked_scatter": (lambda a: (a * 1).masked_scatter(a > 1, a), 1),
}


@pytest.mark.parametrize("name", BLOCKING)
def test_a_backward_blocks_as_often_as_on_a_gpu(name: str) -> None:
    build, count = BLOCKING[name]
    a = leaf("cuda")
    with simulated_cuda() as seen:
        loss = build(a).sum()
        seen.clear()
        loss.backward()
    assert len(seen) == count
    assert a.grad is not None
    assert a.grad.tolist() == expected(build)


def test_each_backward_of_a_product_blocks() -> None:
    loss = leaf("cuda").prod()
    with simulated_cuda() as seen:
        loss.backward(retain_graph=True)
        loss.backward()
    assert [sync.name for sync in seen] == ["ProdBackward0", "ProdBackward0"]


def test_a_backward_of_the_host_does_not_block() -> None:
    with simulated_cuda() as seen:
        leaf("cpu").cumprod(0).prod().backward()
    assert not seen


def test_an_index_of_the_program_stays_on_the_host() -> None:
    positions = torch.tensor([0, 1])
    leaf("cuda")[positions].sum().backward()
    assert positions.is_cpu
