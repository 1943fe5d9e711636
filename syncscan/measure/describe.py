"""Operands and results as plain JSON, and the kinds of the table that hold for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from syncscan.model import MASKS
from syncscan.ops.kinds import KINDS, Test, TestMakers, constants, test_of

Description = dict[str, Any]


class Several(tuple[object, ...]):
    """Several values of one parameter: the parts of an index, or what a starred parameter takes."""

    __slots__ = ()


MAX_ITEMS = 32  # of a sequence; more are counted, not described


def describe(value: object) -> Description:
    """Describe an operand or a result; needs torch and NumPy in the process.

    ``is`` says what it is; a tensor has ``on``, ``dtype``, ``shape`` and flags for "pinned" and "gaps".
    """
    import numpy as np  # noqa: PLC0415 (the readers of records need neither)
    import torch  # noqa: PLC0415

    if isinstance(value, torch.Tensor):
        return _describe_tensor(value)
    if isinstance(value, np.ndarray):
        return {"is": "array", "dtype": str(value.dtype), "shape": list(value.shape), "bytes": value.nbytes}
    if isinstance(value, torch.nn.Module):
        return {"is": "module", "held": [describe(tensor) for tensor in value.state_dict().values()]}
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return {"is": "number", "value": repr(value)}
    if isinstance(value, (torch.device, torch.dtype)):
        return {"is": "device" if isinstance(value, torch.device) else "dtype", "value": str(value)}
    if isinstance(value, type(torch.BoolTensor)):  # torch.BoolTensor names a place too
        return {"is": "device", "value": "cuda" if value.is_cuda else "cpu"}
    return _describe_plain(value)


def _describe_tensor(tensor: Any) -> Description:
    import torch  # noqa: PLC0415

    if tensor.is_nested:  # its own shape has symbols, and the layout of torch.strided has none at all
        return _describe_tensor(tensor.values())
    found: Description = {
        "is": "tensor",
        "on": "gpu" if tensor.is_cuda else tensor.device.type,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "bytes": tensor.numel() * tensor.element_size(),
    }
    if tensor.layout is not torch.strided:
        return found | {"layout": str(tensor.layout).removeprefix("torch.")} | _describe_parts(tensor)
    if not tensor.is_cuda and torch.cuda.is_available() and tensor.is_pinned():
        found["pinned"] = True
    if not tensor.is_contiguous():
        found["gaps"] = True
    if not tensor.is_contiguous() and is_dense(tensor):
        found["permuted"] = True
    return found


def _describe_parts(tensor: Any) -> Description:
    """Describe a sparse tensor: coalesced or not, and with tensors as elements or not."""
    import torch  # noqa: PLC0415

    if tensor.layout is not torch.sparse_coo:
        return {}
    flags = {"coalesced": tensor.is_coalesced(), "hybrid": tensor.dense_dim() > 0}
    return {flag: True for flag, holds in flags.items() if holds}


def is_dense(tensor: Any) -> bool:
    """Return whether a tensor fills its memory without gaps, each element once, in whatever order."""
    steps = sorted(
        (stride, size) for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size != 1
    )
    expected = 1
    for stride, size in steps:
        if stride != expected:
            return False
        expected *= size
    return True


def _describe_plain(value: object) -> Description:
    if value is None or isinstance(value, str):
        return {"is": "none"} if value is None else {"is": "string", "value": value[:40]}
    if isinstance(value, Several):
        return {"is": "several", "items": [describe(v) for v in value]}
    if isinstance(value, slice):
        return {"is": "slice", "items": [describe(v) for v in (value.start, value.stop, value.step)]}
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, range)):
        return {"is": "sequence", "length": len(value), "items": [describe(v) for v in value[:MAX_ITEMS]]}
    return {"is": "object", "value": type(value).__name__}


def values_of(described: Description) -> list[Description]:
    """Return the values of a parameter: several for a starred parameter or an index."""
    return described["items"] if described["is"] == "several" else [described]


def kinds_of(described: Description) -> frozenset[str]:
    """Return the kinds of `syncscan.ops.kinds.KINDS` that hold for one value."""
    return frozenset(kind for kind in KINDS if is_of(kind, described))


def is_of(kind: str, described: Description) -> bool:
    """Return whether a value is of a kind."""
    return bool(_test_of(kind)(described))


def _is(*names: str) -> Test[Description]:
    wanted = {"sequence" if name == "list" else name for name in names}
    return lambda described: described["is"] in wanted


def _on(place: str) -> Test[Description]:
    wanted = "cpu" if place == "host" else place
    return lambda described: described.get("on") == wanted


def _of_tensor(test: Callable[[Description], bool]) -> Test[Description]:
    return lambda described: described["is"] == "tensor" and test(described)


def _dtype(*names: str) -> Test[Description]:
    return _of_tensor(lambda tensor: tensor["dtype"] in names)


def _dims(count: str) -> Test[Description]:
    return _of_tensor(lambda tensor: len(tensor["shape"]) == int(count))


def _length(count: str) -> Test[Description]:
    return lambda described: described["is"] == "sequence" and described["length"] == int(count)


def _equals(*words: str) -> Test[Description]:
    wanted = constants(words)
    return lambda described: (
        described["is"] in {"number", "string"} and _constant(described["value"]) in wanted
    )


def _constant(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def is_mask(tensor: Description) -> bool:
    """Return whether a tensor selects elements as an index."""
    return tensor["dtype"] in MASKS


def _is_index(tensor: Description) -> bool:
    return not is_mask(tensor) and bool(tensor["shape"])


def _flag(name: str) -> Test[Description]:
    return _of_tensor(lambda tensor: bool(tensor.get(name)))


def _layout(*names: str) -> Test[Description]:
    return _of_tensor(lambda tensor: tensor.get("layout", "strided") in names)


def _is_square(tensor: Description) -> bool:
    return len(tensor["shape"]) > 1 and tensor["shape"][-1] == tensor["shape"][-2]


def _memory(sort: str) -> Test[Description]:
    return lambda described: (
        (described["is"] == "array" or described.get("on") == "cpu")
        and ("pinned" if described.get("pinned") else "pageable") == sort
    )


def _true(described: Description) -> bool | None:
    """Return the truth of a bool; numbers are not tested for their truth."""
    return {"True": True, "False": False}.get(described.get("value", ""))


def _module(place: str) -> Test[Description]:
    is_there = _on(place)
    return lambda described: bool(described.get("held")) and all(map(is_there, described["held"]))


def _holds(what: str, place: str = "") -> Test[Description]:
    if place:
        is_one, is_there = _OF_TENSORS[what], _on(place)
        return lambda described: any(is_one(tensor) and is_there(tensor) for tensor in tensors_in(described))
    return lambda described: any(tensor["on"] == "gpu" for tensor in tensors_in(described)) is (what == "gpu")


_OF_TENSORS: dict[str, Callable[[Description], bool]] = {"mask": is_mask, "index": _is_index, "tensor": bool}


def _names(place: str) -> Test[Description]:
    return lambda described: described["is"] in {"device", "string"} and _place_named(described) == place


def _place_named(device: Description) -> str:
    """Return the place that a device names, or the name of a tensor type such as "torch.cuda.FloatTensor"."""
    name = device["value"]
    if name.startswith(("cuda", "torch.cuda.")):
        return "gpu"
    return "host" if name == "cpu" or (name.startswith("torch.") and name.endswith("Tensor")) else ""


_FACTS: TestMakers[Description] = {
    "is": _is,
    "on": _on,
    "dtype": _dtype,
    "dims": _dims,
    "length": _length,
    "equals": _equals,
    "index": lambda: _of_tensor(_is_index),
    "layout": _layout,
    **{flag: functools.partial(_flag, flag) for flag in ("gaps", "permuted", "coalesced", "hybrid")},
    "square": lambda: _of_tensor(_is_square),
    "memory": _memory,
    "true": lambda: _true,
    "module": _module,
    "holds": _holds,
    "names": _names,
}


@functools.cache
def _test_of(kind: str) -> Test[Description]:
    return test_of(kind, _FACTS)


def bytes_of(described: Description) -> int:
    """Return the size of a value in bytes: that of its tensors, 8 for each item of host data."""
    if described["is"] in {"tensor", "array"}:
        return int(described["bytes"])
    if "length" in described:
        return 8 * int(described["length"])
    return 0


def tensors_in(described: Description) -> list[Description]:
    """Return every tensor of an operand or result, in order."""
    if described["is"] == "tensor":
        return [described]
    return [tensor for item in described.get("items", ()) for tensor in tensors_in(item)]
