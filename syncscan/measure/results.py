"""The device and the kind of an operation's result, from the calls that were measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from syncscan.measure.describe import Description, tensors_in
from syncscan.measure.handwritten import Sheet
from syncscan.measure.probe import Record
from syncscan.ops import Operation
from syncscan.ops.dimensions import VARIES, Shapes, learn

_PLAIN = {"none": "none", "number": "number", "string": "string", "array": "ndarray", "sequence": "list"}


def result_of(name: str, args: Sequence[str], records: list[Record], sheet: Sheet) -> Operation:
    """Return an entry with the known fields of the result; the caller fills the other fields."""
    telling = [r for r in records if tensors_in(r["result"])]
    result = sheet.result or (_place(args, telling) if telling else _plain(records))
    if not telling or result in {"number", "list", "string", "none", "ndarray"}:
        return Operation(name, result=result, dtype=sheet.dtype)
    reduces = "dim" if "dim" in args and _reduces(telling) else ""
    return Operation(
        name,
        result=result,
        dtype=sheet.dtype or _dtype(telling),
        ndim=VARIES if reduces else _ndim(telling),
        count=_count([r for r in telling if "dim" in r["args"]] if reduces else telling),
        reduces=reduces,
    )


def _plain(records: list[Record]) -> str:
    found = {_PLAIN.get(record["result"]["is"], "unknown") for record in records}
    return found.pop() if len(found) == 1 else "unknown"


def _count(records: list[Record]) -> int:
    """Return the number of tensors in every result; 0 where the number varies."""
    counts = {len(tensors_in(record["result"])) for record in records}
    return counts.pop() if len(counts) == 1 else 0


def _operands(record: Record) -> list[Description]:
    return [t for name, value in record["args"].items() if name != "device" for t in tensors_in(value)]


def _actual(record: Record) -> str:
    places = {tensor["on"] for tensor in tensors_in(record["result"])}
    return places.pop() if len(places) == 1 else "mixed"


def _together(record: Record) -> str:
    places = {tensor["on"] for tensor in _operands(record)}
    return "gpu" if "gpu" in places else "cpu"


def _named_device(record: Record) -> str | None:
    device = record["args"].get("device")
    if device is None or device["is"] not in {"device", "string", "tensor"}:
        return None
    if device["is"] == "tensor":
        return str(device["on"])
    return "gpu" if device["value"].startswith("cuda") else device["value"]


def _place(args: Sequence[str], records: list[Record]) -> str:
    def agree(predict: Callable[[Record], str | None]) -> bool:
        return all(predict(record) == _actual(record) for record in records)

    with_operands = agree(lambda record: _named_device(record) or _together(record))
    if with_operands and any(not _operands(r) and _named_device(r) for r in records):
        return "device"
    if sum(record["shares"] for record in records) * 2 > len(records) and agree(_first):
        return "view"
    if with_operands:
        return "input"
    for name in args:
        plain = name.removeprefix("*")
        if agree(lambda record, plain=plain: _at(record, plain)):  # type: ignore[misc]
            return f"arg {plain}"
    places = {_actual(record) for record in records}
    return places.pop() if len(places) == 1 and places <= {"gpu", "cpu"} else "unknown"


def _first(record: Record) -> str | None:
    return next((tensor["on"] for tensor in _operands(record)), None)


def _at(record: Record, name: str) -> str | None:
    value = record["args"].get(name)
    return next((tensor["on"] for tensor in tensors_in(value)), None) if value else None


def _class(dtype: str) -> str:
    if dtype in {"bool", "uint8"}:
        return dtype
    if dtype.startswith(("int", "uint")):
        return "int"
    return "float" if dtype.startswith(("float", "bfloat")) else ""


def _dtype(records: list[Record]) -> str:
    """Return the class of dtype that every result has; "" if the operands have the same class."""
    free = [record for record in records if "dtype" not in record["args"]]
    results = {_class(tensor["dtype"]) for record in free for tensor in tensors_in(record["result"])}
    operands = {_class(tensor["dtype"]) for record in free for tensor in _operands(record)[:1]}
    return next(iter(results)) if len(results) == 1 and operands != results else ""


def _ndim(records: list[Record]) -> int | str:
    """Return how many dimensions the results have, see `syncscan.ops.dimensions`."""
    return learn([_shapes(record) for record in records])


def _shapes(record: Record) -> Shapes:
    size = record["args"].get("size", {}).get("items")
    results = [len(tensor["shape"]) for tensor in tensors_in(record["result"])]
    operands = [len(tensor["shape"]) for tensor in _operands(record)]
    return Shapes(results, operands, None if size is None else len(size))


def _reduces(records: list[Record]) -> bool:
    """Return whether the result is one number on the device unless ``dim`` is given."""
    whole = [record for record in records if "dim" not in record["args"]]
    along = [record for record in records if "dim" in record["args"]]
    return bool(whole) and all(_is_one_number(r) for r in whole) and not all(_is_one_number(r) for r in along)


def _is_one_number(record: Record) -> bool:
    tensors = tensors_in(record["result"])
    return len(tensors) == 1 and not tensors[0]["shape"]
