"""The reason why a call blocked: its copies, the aten overloads that blocked, its result."""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.measure.describe import Description, is_mask, tensors_in
from syncscan.measure.probe import Record
from syncscan.ops import Effect

# Overloads that check an error code on the host after a linear-algebra routine.
_CHECKS = ("_linalg_check_errors", "linalg_", "_linalg_", "lu_unpack", "ormqr", "_assert_")


def effect_of(name: str, records: Sequence[Record]) -> Effect:
    """Return the effect that most of the calls show."""
    effects = [_effect_of_call(name, record) for record in records]
    return max(Effect, key=effects.count)


def _effect_of_call(name: str, record: Record) -> Effect:
    waiting = [overload.removeprefix("aten.") for overload, count in record["aten"].items() if count]
    if any(overload.startswith(_CHECKS) for overload in waiting) or name.startswith("torch.linalg."):
        return Effect.SCALAR if waiting == ["_local_scalar_dense.default"] else Effect.CHECK
    if any(overload.startswith("_local_scalar_dense") for overload in waiting):
        return Effect.SCALAR
    return _effect_of_copies(record)


def _effect_of_copies(record: Record) -> Effect:
    to_gpu, to_host = (record["calls"].get(f"copy to {place}") for place in ("gpu", "host"))
    result = record["result"]["is"]
    if to_gpu and not to_host:
        return Effect.UPLOAD
    if to_host and _on_host(record):
        return Effect.DOWNLOAD
    if record.get("dynamic") or _is_sparse(record):
        return _effect_of_size(record)
    if not to_host and not to_gpu:
        return Effect.WAIT if result == "none" else Effect.CHECK
    if result == "number":
        return Effect.SCALAR
    return Effect.SHAPE if any(map(is_mask, _gpu_tensors(record))) else Effect.CHECK


def _effect_of_size(record: Record) -> Effect:
    """Return the effect of a call whose result has a size that data decides, as torch says."""
    tensors = [*tensors_in(record["result"])]
    if _is_sparse(record) or not tensors or any(tensor["shape"] for tensor in tensors):
        return Effect.SHAPE
    # A number has no such size: `ctc_loss` copies lengths both ways.
    return Effect.UPLOAD if record["calls"].get("copy to gpu") else Effect.CHECK


def _gpu_tensors(record: Record) -> list[Description]:
    values = record["args"].values()
    return [tensor for value in values for tensor in tensors_in(value) if tensor["on"] == "gpu"]


def _is_sparse(record: Record) -> bool:
    """Return whether a call is about sparse tensors, whose data decides the number of elements."""
    values = [*record["args"].values(), record["result"]]
    return any("layout" in tensor for value in values for tensor in tensors_in(value))


def _on_host(record: Record) -> bool:
    tensors = tensors_in(record["result"])
    if tensors:
        return all(tensor["on"] == "cpu" for tensor in tensors)
    return record["result"]["is"] in {"array", "sequence", "string"}
