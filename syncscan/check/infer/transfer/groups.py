"""Process groups of ``torch.distributed``: their backends, and the default group."""

from __future__ import annotations

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, register
from syncscan.model import Confidence, Kind

_GROUP = "torch.distributed.ProcessGroup"
_BACKENDS = {"nccl": f"{_GROUP}NCCL", "gloo": f"{_GROUP}Gloo", "mpi": f"{_GROUP}MPI"}


@register(FUNCTIONS, "torch.distributed.init_process_group")
def _default_group(at: Point, call: Call) -> AbstractValue:
    at.tell(at.context.known.default_group, _group(at, call, call.given(0, "backend")))
    return BOTTOM


@register(FUNCTIONS, "torch.distributed.new_group")
def _new_group(at: Point, call: Call) -> AbstractValue:
    if len(call.args) > 2 or "backend" in call.kwargs:
        return _group(at, call, call.given(2, "backend"))
    return at.read(at.context.known.default_group)


def _group(at: Point, call: Call, backend: AbstractValue) -> AbstractValue:
    """Return a process group of a backend; of an unknown backend where the run decides, or for several backends."""
    name = str(backend.payload).lower() if backend.kind is Kind.STRING else ""
    payload = _BACKENDS.get(name, _GROUP)
    at.origin("{} makes the group")
    return AbstractValue(Kind.INSTANCE, confidence=Confidence.INFERRED, payload=payload)


def is_process_group(value: AbstractValue) -> bool:
    """Return whether a value is a process group of any backend."""
    return value.kind is Kind.INSTANCE and isinstance(value.payload, str) and value.payload.startswith(_GROUP)


def settle_group(at: Point, bound: Bound) -> None:
    """Bind the default group to a collective that names none."""
    group = bound.get("group")
    if group is None or group.kind is Kind.NONE:
        bound.values["group"] = (at.read(at.context.known.default_group),)
