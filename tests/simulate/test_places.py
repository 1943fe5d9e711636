"""Where tensors lie, whose call it is, and under which name it is judged: at the edges between torch and the simulation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from syncscan.ops import load_table
from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.export import plain_table
from syncscan.simulate.inside import marks
from syncscan.simulate.inside.conditions import AnyOf, CompiledOperation, Table


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value).rpartition("devices, ")[2] or str(caught.value)


def test_operands_in_two_places_are_refused_by_the_names_of_both() -> None:
    with simulated_cuda(devices=4):
        on = [torch.ones(2, device=f"cuda:{index}") for index in range(4)]
        for one, other in itertools.permutations(range(4), 2):
            assert refusal(lambda: on[one] + on[other]) == f"cuda:{one} and cuda:{other}!"  # noqa: B023 (called here)
            assert refusal(lambda: torch.stack([on[one], on[one], on[other]])).endswith(f" and cuda:{other}!")  # noqa: B023 (called here)
        host, number = torch.ones(2), torch.ones(())
        for one in on:
            assert (
                refusal(partial(torch.add, host, one))
                == refusal(partial(torch.add, one, host))
                == f"cuda:{one.device.index} and cpu!"
            )
            assert (one + number).device == (number + one).device == one.device
        assert refusal(lambda: torch.addcmul(on[1], number, host)) == "cuda:1 and cpu!"
        assert refusal(lambda: torch.addcmul(on[1], host, number)) == "cuda:1 and cpu!"
        assert refusal(lambda: torch.add(on[2], 1, out=torch.empty(2))) == "cuda:2 and cpu!"
        assert (host + number).device.type == "cpu"


def test_a_tensor_is_read_through_an_index_of_its_own_device_or_the_host_and_stored_into_through_any() -> (
    None
):
    with simulated_cuda(devices=2):
        places = {"cpu": None, "cuda:0": 0, "cuda:1": 1}
        for own, index in itertools.product(places, places):
            x, at = torch.arange(4, device=own), torch.tensor([1, 2], device=index)
            if index in {own, "cpu"}:
                assert x[at].tolist() == x[None, at][0].tolist() == [1, 2]
            else:
                assert refusal(lambda: x[at]).endswith(f"as the indexed tensor ({own})")  # noqa: B023 (called here)
                assert refusal(lambda: x[None, at]).endswith(f"({own})")  # noqa: B023 (called here)
            x[at] = 7
            assert x.tolist() == [0, 7, 7, 3]
            x[torch.tensor([True, False, False, True], device=index)] = 5
            assert x.tolist() == [5, 7, 7, 5]
            assert x.index_put((at,), x[:2]).tolist() == [5, 5, 7, 5]


def test_the_sizes_of_a_packed_sequence_stay_on_the_host() -> None:
    with simulated_cuda() as waits:
        packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4, device="cuda"), [3, 1])
        assert (packed.data.is_cuda, packed.batch_sizes.is_cuda) == (True, False)
        assert packed.batch_sizes.tolist() == [2, 1, 1]
        for each in (packed, packed._replace(data=packed.data.requires_grad_())):
            padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(each)
            assert (padded.is_cuda, lengths.is_cuda) == (True, False)
            assert lengths.tolist() == [3, 1]
    assert waits == []


def test_the_place_that_operands_have_in_common() -> None:
    with simulated_cuda(devices=2):
        a, b = torch.ones(2, device="cuda"), torch.ones((), device="cuda:0")
        other, host, pinned = torch.ones(2, device="cuda:1"), torch.ones(2), torch.ones(2).pin_memory()
        for values in ([a], [a, b, 1, None, "x"], [[a, b]], [(a, [b, 2.0])], [slice(b, None, 2)], [1, a, []]):
            assert marks.common_place(values) == 0
        assert marks.common_place([other, [other]]) == 1
        for values in ([host], [host, 1], [[host]]):
            assert marks.common_place(values) is None
        for values in ([], [1, "x", None], [[], ()], [slice(1, 2)]):
            assert marks.common_place(values) == marks.NOWHERE
        for values in (
            [a, other], [a, host], [host, a], [[a], (host,)], [pinned], [a, pinned], [[a], slice(other)],
            [object()], [a, {}], [torch.eye(2).to_sparse()], [slice(host, b)],
        ):  # fmt: skip
            assert marks.common_place(values) == marks.MIXED
        assert marks.is_alias(a, a[1:])
        assert not marks.is_alias(a, a.clone())
        assert not marks.is_alias(a, 1)
        assert not marks.is_alias([], a)


class _Default(torch.Tensor):
    """Notes where a tensor is made inside an override."""

    made: list[str] = []  # noqa: RUF012 (one list, of the class, is meant)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.add:
            cls.made.append(torch.ones(1).device.type)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_an_override_is_outside_of_the_default_device_as_it_is_in_torch() -> None:
    def made(*devices: str) -> list[str]:
        _Default.made.clear()
        x = torch.ones(2).as_subclass(_Default)
        modes = [torch.device(device) for device in devices]
        for mode in modes:
            mode.__enter__()
        try:
            torch.add(x, 1)
            after = torch.ones(1).device.type
        finally:
            for mode in reversed(modes):
                mode.__exit__(None, None, None)
        return [*_Default.made, after]

    as_torch = [made(), made("meta")]
    assert as_torch == [["cpu", "cpu"], ["cpu", "meta"]]
    with simulated_cuda():
        assert [made(), made("meta")] == as_torch
        assert made("cuda") == ["cpu", "cuda"]


@pytest.mark.parametrize("device", ["cuda", "cpu", "meta"])
def test_a_default_device_that_was_set_is_there_again_after_an_override(device: str) -> None:
    x = torch.ones(2).as_subclass(_Default)
    _Default.made.clear()
    with simulated_cuda():
        torch.set_default_device(device)
        try:
            torch.add(x, 1)
            with pytest.raises(RuntimeError, match=r"2D|matrix"):
                torch.trace(x)
            after = torch.ones(1).device.type, torch.get_default_device().type
        finally:
            torch.set_default_device(None)
        assert torch.ones(1).device.type == "cpu"
    assert (_Default.made, after) == (["cpu"], (device, device))


class _Seen(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_under_a_mode_of_the_program_all_is_simulated_and_the_mode_sees_it() -> None:
    with simulated_cuda() as waits, _Seen() as seen:
        x = torch.ones(2, device="cuda")
        y = (x * 2).sum()
        assert (x.is_cuda, y.is_cuda, y.item()) == (True, True, 4)
        assert [name.partition(".")[0] for name in seen.names] == [
            "ones",
            "mul",
            "sum",
            "_local_scalar_dense",
        ]
        assert (x.tolist(), bool(y > 1), torch.allclose(x, x)) == ([1, 1], True, True)
    assert [wait.api for wait in waits] == [
        "torch.Tensor.item",
        "torch.Tensor.tolist",
        "torch.Tensor.__bool__",
        "torch.allclose",
    ]


def test_a_thread_that_was_there_before_runs_backward_as_it_did() -> None:
    def trained() -> list[float]:
        x = torch.ones(2, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            y = (x * x).sum()
        y.backward()
        assert x.grad is not None
        return x.grad.tolist()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with simulated_cuda() as waits:
            assert pool.submit(trained).result() == [2, 2]
    assert waits == []


def test_what_is_saved_for_backward_is_moved_as_the_program_says() -> None:
    packed: list[torch.Tensor] = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        packed.append(t.cpu())
        return packed[-1]

    with simulated_cuda() as waits:
        x = torch.ones(2, device="cuda", requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t.to("cuda")):
            y = x.exp().sum()
        assert [(t.is_cuda, t.numel()) for t in packed] == [(False, 2)]
        y.backward()
        assert x.grad is not None
        assert x.grad.is_cuda
    assert [wait.api for wait in waits] == ["torch.Tensor.cpu", "torch.Tensor.to"]


@pytest.mark.parametrize("inner", [False, True], ids=["one after the other", "one in the other"])
def test_what_is_saved_for_backward_waits_in_every_block_that_moves_it(inner: bool) -> None:
    def moved() -> Any:
        return torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t.to("cuda"))

    with simulated_cuda() as waits:
        x = torch.ones(2, device="cuda", requires_grad=True)
        with moved():
            if inner:
                with moved():
                    x.exp()
            x.exp()
        if not inner:
            with moved():
                x.exp()
        x.exp()
    assert [wait.api for wait in waits] == ["torch.Tensor.cpu"] * 2


def test_nccl_is_available_and_what_waited_does_not_change() -> None:
    with simulated_cuda() as waits:
        assert torch.distributed.is_nccl_available()
        torch.ones(1, device="cuda").item()
    with pytest.raises(FrozenInstanceError):
        waits[0].line = 0  # type: ignore[misc]  # what is frozen refuses


@pytest.mark.parametrize("with_indices", [False, True])
def test_the_groups_of_an_optimiser_are_those_of_torch(with_indices: bool) -> None:
    def grouped(*devices: str) -> list[Any]:
        tensors: list[Any] = [torch.full((1,), float(at), device=device) for at, device in enumerate(devices)]
        rows = [tensors, [t + 1 for t in tensors]]
        found = torch._C._group_tensors_by_device_and_dtype(rows, with_indices)
        return [
            (
                device.type,
                device.index,
                dtype,
                [[t.sum().item() for t in row] for row in lists],
                list(indices),
            )
            for (device, dtype), (lists, indices) in found.items()
        ]

    of_torch = grouped("cpu", "cpu")
    with simulated_cuda(devices=2):
        assert grouped("cpu", "cpu") == of_torch
        (found,) = of_torch
        assert grouped("cuda:1", "cuda:1") == [("cuda", 1, *found[2:])]
        two = grouped("cuda:0", "cuda:1", "cuda:0")
        assert [group[:2] for group in two] == [("cuda", 0), ("cuda", 1)]
        assert [group[3] for group in two] == [[[0, 2], [1, 3]], [[1], [2]]]
        assert [group[4] for group in two] == ([[0, 2], [1]] if with_indices else [[], []])


TABLE = load_table()
SIMULATED = Table(plain_table(TABLE))


def test_a_name_finds_the_entry_that_the_check_finds() -> None:
    spaces = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special", "torch.cuda", "torch.linalg")
    bases = sorted({name.rpartition(".")[2] for name in SIMULATED.operations})
    names = [f"{space}.{base}{end}" for space in spaces for base in bases for end in ("", "_")]
    differing = []
    for name in names:
        here, there = SIMULATED.find(name), TABLE.find(name)
        if (here and here.name) != (there and there.name):
            differing.append(name)
    assert differing == []
    found = {
        name: SIMULATED.find(name) for name in ("torch.Tensor.add_", "torch.Tensor.__getitem__", "torch.no")
    }
    assert {name: each and each.name for name, each in found.items()} == {
        "torch.Tensor.add_": "torch.add", "torch.Tensor.__getitem__": "torch.Tensor.__getitem__", "torch.no": None,
    }  # fmt: skip
    aten = {
        name: SIMULATED.find_aten(name) for name in ("index_put_", "_index_put_impl_", "nonzero", "_unique2")
    }
    assert [each and each.name for each in aten.values()] == [
        "torch.Tensor.__setitem__", "torch.Tensor.__setitem__", "torch.nonzero", "torch.unique",
    ]  # fmt: skip


def operation(*args: str, cases: Any = ()) -> CompiledOperation:
    entry = {"args": args, "result": "tensor", "count": 1, "interpret": False, "shapes": [], "cases": cases}
    return CompiledOperation("torch.f", entry)


def test_arguments_are_bound_by_the_names_of_the_table() -> None:
    plain, star = operation("input", "size", "dtype"), operation("input", "*size")
    assert plain.bind((1, 2), {"dtype": 3}) == {"input": 1, "size": 2, "dtype": 3}
    assert plain.bind((), {"self": 1, "values": 2}) == {"input": 1, "value": 2}
    for given in ((1, 2, 3), (1, (2, 3)), (1, [2, 3])):
        assert star.bind(given, {}) == {"input": 1, "size": (2, 3)}
        assert type(star.bind(given, {})["size"]) is AnyOf
    assert star.bind((1, (2,), 3), {}) == {"input": 1, "size": ((2,), 3)}
    assert star.bind((1, 2), {})["size"] == (2,)
    assert star.bind((1,), {}) == {"input": 1}
    indexed = operation("input", "index").bind((1, (2, 3)), {})
    assert (type(indexed["index"]), indexed["index"]) == (AnyOf, (2, 3))
    assert type(operation("input", "index").bind((1, [2, 3]), {})["index"]) is list


def test_arguments_of_aten_are_bound_by_their_names_and_else_by_their_places() -> None:
    known = operation("input", "index", "value", "extra")
    assert known.bind_aten(["self", "indices", "values", "accumulate"], (1, 2, 3, 4), {}) == {
        "input": 1, "index": 2, "value": 3, "extra": 4,
    }  # fmt: skip
    assert known.bind_aten(["self", "value"], (1, 2), {}) == {"input": 1, "value": 2}
    assert known.bind_aten(["x", "y", "z", "u", "v"], (1, 2, 3, 4, 5), {"self": 6}) == {
        "input": 6, "index": 2, "value": 3, "extra": 4, "v": 5,
    }  # fmt: skip
    bound = known.bind_aten(["self", "indices"], (1, [None, 5]), {})
    assert (type(bound["index"]), bound["index"]) == (AnyOf, (slice(None), 5))
