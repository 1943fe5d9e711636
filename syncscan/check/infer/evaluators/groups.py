"""Process groups of ``torch.distributed``: which backend one is of, and which is the default one."""

from __future__ import annotations

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.registry import FUNCTIONS, register
from syncscan.check.infer.table.conditions import Bound
from syncscan.model import UNKNOWN, Confidence, Kind, Value

_GROUP = "torch.distributed.ProcessGroup"
_BACKENDS = {"nccl": f"{_GROUP}NCCL", "gloo": f"{_GROUP}Gloo", "mpi": f"{_GROUP}MPI"}


@register(FUNCTIONS, "torch.distributed.init_process_group")
def _default_group(frame: Frame, call: Call) -> Value:
    frame.tell(frame.context.known.default_group, _group(frame, call, call.given(0, "backend")))
    return UNKNOWN


@register(FUNCTIONS, "torch.distributed.new_group")
def _new_group(frame: Frame, call: Call) -> Value:
    if len(call.args) > 2 or "backend" in call.kwargs:
        return _group(frame, call, call.given(2, "backend"))
    return frame.read(frame.context.known.default_group)


def _group(frame: Frame, call: Call, backend: Value) -> Value:
    """A group of a backend; of some group where only the run decides on that, or there are several."""
    name = str(backend.payload).lower() if backend.kind is Kind.STRING else ""
    evidence = frame.evidence(call.node, f"`{frame.here(call.node).text}` makes the group")
    payload = _BACKENDS.get(name, _GROUP)
    return Value(Kind.INSTANCE, confidence=Confidence.INFERRED, payload=payload, evidence=evidence)


def settle_group(frame: Frame, bound: Bound) -> None:
    """Let a collective that names no group be one of the default group."""
    group = bound.get("group")
    if group is None or group.kind is Kind.NONE:
        bound.values["group"] = (frame.read(frame.context.known.default_group),)
