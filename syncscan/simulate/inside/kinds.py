"""The facts that define the kinds of the operation table, tested on real values; see ``syncscan/ops/kinds.py``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from .marks import PINNED, cuda_index, place

_LOOKED_AT = 64  # items per container: a longer list rarely has a tensor only behind these
_MASKS = (torch.bool, torch.uint8)

Test = Callable[[Any], bool]
Kind = Sequence[Mapping[str, bool]]  # a disjunction of conjunctions of facts, each with its truth value


def is_sequence(value: Any) -> bool:
    """Return whether a value is a list, a range or an array, which torch converts to a tensor if the value is an index."""
    return _list(value) or _array(value)


def is_host_index(value: Any) -> bool:
    """Return whether a value is a tensor of positions in host memory."""
    return _index(value) and _cpu(value)


def size_in_bytes(value: Any) -> float:
    """Return the memory of a tensor or array in bytes; infinite for other values."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return float(getattr(value, "nbytes", "inf"))


def of_accelerator(args: Any) -> Any:
    """Return the arguments of `torch.device`, with the type of a device that is named by its number alone."""
    return ("cuda", *args) if len(args) == 1 and type(args[0]) is int else args


def is_cuda_device(value: Any) -> bool:
    """Return whether a device argument names a GPU: "cuda", "cuda:1", a device, or a plain index."""
    if isinstance(value, torch.device):
        return value.type == "cuda"
    if isinstance(value, str):
        return value.partition(":")[0] == "cuda"
    return isinstance(value, int) and not isinstance(value, bool)


def is_elsewhere(device: Any) -> bool:
    """Return whether a device argument names neither a GPU nor the CPU, such as "meta"."""
    return device is not None and not is_cuda_device(device) and torch.device(device).type != "cpu"


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested lists, tuples, dicts and slices; only the first 64 items of each container count."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value[:_LOOKED_AT] for tensor in tensors_in(item)]
    return []


def _gpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and cuda_index(value) is not None


def _cpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and cuda_index(value) is None


def _array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _number(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return isinstance(value, (int, float, complex)) or (
        numpy is not None and isinstance(value, numpy.generic)
    )


def _tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _list(value: Any) -> bool:
    return isinstance(value, (list, tuple, range))  # torch converts these to a tensor when they are an index


def _slice(value: Any) -> bool:
    return isinstance(value, slice)


def _names_host(value: Any) -> bool:
    return isinstance(value, (str, torch.device)) and str(value).startswith("cpu")


def _pinned(value: Any) -> bool:
    return _tensor(value) and place(value) == PINNED


def _pageable(value: Any) -> bool:
    return (_cpu(value) and not _pinned(value)) or _array(value)


def _holds_gpu(value: Any) -> bool:
    return any(map(_gpu, tensors_in(value)))


def _module(place: str) -> Test:
    is_there = _PLACES[place]

    def test(value: Any) -> bool:
        held = list(value.state_dict().values()) if isinstance(value, torch.nn.Module) else []
        return bool(held) and all(map(is_there, held))

    return test


def _holds(what: str, place: str = "") -> Test:
    if place:
        is_one, is_there = {"mask": _mask, "index": _index, "tensor": _tensor}[what], _PLACES[place]
        return lambda value: any(is_one(each) and is_there(each) for each in tensors_in(value))
    return _holds_gpu if what == "gpu" else lambda value: not _holds_gpu(value)


def _index(value: Any) -> bool:
    return _tensor(value) and value.dtype not in _MASKS and value.dim() > 0


def _mask(value: Any) -> bool:
    return _tensor(value) and value.dtype in _MASKS


def _gaps(value: Any) -> bool:
    return _tensor(value) and value.layout is torch.strided and not value.is_contiguous()


def _permuted(value: Any) -> bool:
    """Return whether a strided tensor covers its memory without gaps or overlaps, in another order."""
    if not _gaps(value):
        return False
    expected = 1
    for stride, size in sorted(zip(value.stride(), value.shape)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _coo(value: Any) -> bool:
    return _tensor(value) and value.layout is torch.sparse_coo


def _coalesced(value: Any) -> bool:
    return _coo(value) and bool(value.is_coalesced())


def _hybrid(value: Any) -> bool:
    return _coo(value) and value.dense_dim() > 0


def _square(value: Any) -> bool:
    return _tensor(value) and value.dim() > 1 and bool(value.shape[-1] == value.shape[-2])


def _true(value: Any) -> bool:
    return _number(value) and bool(value)


def _is(*names: str) -> Test:
    return _any_of([_WHAT[name] for name in names])


def _dtype(*names: str) -> Test:
    dtypes = {getattr(torch, name, None) for name in names}
    return lambda value: _tensor(value) and value.dtype in dtypes


def _layout(*names: str) -> Test:
    layouts = {getattr(torch, name) for name in names}
    return lambda value: _tensor(value) and value.layout in layouts


def _length(count: str) -> Test:
    wanted = int(count)
    return lambda value: _list(value) and len(value) == wanted


def _equals(*words: str) -> Test:
    wanted = {float(word) if word.lstrip("-").isdigit() else word for word in words}
    return lambda value: isinstance(value, (str, int, float)) and value in wanted


def _dims(count: str) -> Test:
    wanted = int(count)
    return lambda value: _tensor(value) and value.dim() == wanted


_WHAT: dict[str, Test] = {
    "tensor": _tensor, "number": _number, "array": _array, "list": _list, "slice": _slice,
}  # fmt: skip
_PLACES: dict[str, Test] = {"gpu": _gpu, "host": _cpu}
_FACTS: dict[str, Callable[..., Test]] = {
    "is": _is,
    "on": _PLACES.__getitem__,
    "dtype": _dtype,
    "dims": _dims,
    "length": _length,
    "equals": _equals,
    "index": lambda: _index,
    "gaps": lambda: _gaps,
    "layout": _layout,
    "permuted": lambda: _permuted,
    "coalesced": lambda: _coalesced,
    "hybrid": lambda: _hybrid,
    "square": lambda: _square,
    "memory": {"pinned": _pinned, "pageable": _pageable}.__getitem__,
    "true": lambda: _true,
    "module": _module,
    "holds": _holds,
    "names": {"gpu": is_cuda_device, "host": _names_host}.__getitem__,
}


def asks(kind: Kind, facts: Iterable[str]) -> bool:
    """Return whether a value must satisfy at least one of these facts to be of a kind."""
    return all(any(one.get(fact) for fact in facts) for one in kind)


def test_of(kind: Kind) -> Test:
    """Return the test of whether a value is of a kind, given the kind as facts; see ``syncscan.ops.kinds``."""
    return _any_of([_all_of([_fact(text, holds) for text, holds in one.items()]) for one in kind])


def _fact(text: str, holds: bool) -> Test:
    name, *parameters = text.split()
    test = _FACTS[name](*parameters)
    return test if holds else lambda value: not test(value)


# The hot path of each call: most kinds consist of one or two facts.
def _any_of(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda value: any(test(value) for test in tests)


def _all_of(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda value: first(value) and second(value)
    return lambda value: all(test(value) for test in tests)
