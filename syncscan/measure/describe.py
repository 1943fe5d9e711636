"""What an operand or a result is, as plain JSON, and which kinds of the table hold for it."""

from __future__ import annotations

from typing import Any

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
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return {"is": "number", "value": repr(value)}
    if isinstance(value, (torch.device, torch.dtype)):
        return {"is": "device" if isinstance(value, torch.device) else "dtype", "value": str(value)}
    if isinstance(value, type(torch.BoolTensor)):  # torch.BoolTensor names a place too
        return {"is": "device", "value": "cuda" if value.is_cuda else "cpu"}
    return _describe_plain(value)


def _describe_tensor(tensor: Any) -> Description:
    import torch  # noqa: PLC0415

    found: Description = {
        "is": "tensor",
        "on": "gpu" if tensor.is_cuda else tensor.device.type,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "bytes": tensor.numel() * tensor.element_size(),
    }
    if tensor.layout is not torch.strided:
        return found | {"layout": str(tensor.layout).removeprefix("torch.")}
    if not tensor.is_cuda and torch.cuda.is_available() and tensor.is_pinned():
        found["pinned"] = True
    if not tensor.is_contiguous():
        found["gaps"] = True
    return found


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
    """The values of a parameter, of which there are several where it is starred or an index."""
    return described["items"] if described["is"] == "several" else [described]


def kinds_of(described: Description) -> frozenset[str]:
    """The kinds of `syncscan.ops.KINDS` that hold for one value."""
    return frozenset(_KINDS.get(described["is"], lambda _: set())(described))


def _tensor_kinds(tensor: Description) -> set[str]:
    place = tensor["on"]
    if place not in {"gpu", "cpu"}:
        return {"tensor"}
    kinds = {"tensor", place}
    if tensor["dtype"] in {"bool", "uint8"}:
        kinds.add(f"{place} mask")
    elif tensor["shape"]:
        kinds.add(f"{place} index")
    if tensor["dtype"] == "bfloat16":
        kinds.add("bfloat16")
    if tensor.get("gaps"):
        kinds.add("strided")
    if not tensor["shape"]:
        kinds |= {"scalar", "gpu scalar"} if place == "gpu" else {"scalar"}
    if place == "cpu":
        kinds |= {"host data", "pinned" if tensor.get("pinned") else "pageable"}
    return kinds


def _sequence_kinds(sequence: Description) -> set[str]:
    return {"sequence", "gpu sequence" if _holds_gpu(sequence) else "host data"}


def _slice_kinds(bounds: Description) -> set[str]:
    return {"gpu slice"} if _holds_gpu(bounds) else set()


def _holds_gpu(described: Description) -> bool:
    return any(tensor["on"] == "gpu" for tensor in tensors_in(described))


def _device_kinds(device: Description) -> set[str]:
    """Of a device, its name, or the name of a tensor type such as "torch.cuda.FloatTensor"."""
    name = device["value"]
    if name.startswith(("cuda", "torch.cuda.")):
        return {"gpu device"}
    return (
        {"cpu device"} if name == "cpu" or (name.startswith("torch.") and name.endswith("Tensor")) else set()
    )


def _number_kinds(number: Description) -> set[str]:
    truth = {"True": {"true"}, "False": {"false"}}.get(number["value"], set())
    return {"number", "scalar", "host data"} | truth


_KINDS = {
    "tensor": _tensor_kinds,
    "array": lambda _: {"sequence", "host data", "pageable"},
    "number": _number_kinds,
    "device": _device_kinds,
    "string": _device_kinds,
    "sequence": _sequence_kinds,
    "slice": _slice_kinds,
}


def bytes_of(described: Description) -> int:
    """The size of a value in bytes: that of its tensors, 8 for each item of host data."""
    if described["is"] in {"tensor", "array"}:
        return int(described["bytes"])
    if "length" in described:
        return 8 * int(described["length"])
    return 0


def tensors_in(described: Description) -> list[Description]:
    """Every tensor of an operand or result, in order."""
    if described["is"] == "tensor":
        return [described]
    return [tensor for item in described.get("items", ()) for tensor in tensors_in(item)]
