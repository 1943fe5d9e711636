"""One call of one operation, and how it becomes a record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncscan.measure.describe import Several, describe
from syncscan.measure.watch import CallMeter

Record = dict[str, Any]
DYNAMIC = "dynamic output shape"  # counts, among the overloads, those whose shape blocked the host


def _nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A call to measure; ``before`` readies the operands each time."""

    op: str  # public name
    code: str  # how the call is written, or which sample of op_db it is
    operands: dict[str, object]  # by parameter
    call: Callable[[], object]
    before: Callable[[], object] = field(default=_nothing)
    names: tuple[str, ...] = ()  # every parameter, also those that the call does not give


def bind_in_order(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    """Bind positional values to parameters. A starred parameter takes the remaining values; "rest" takes values without a parameter."""
    named: dict[str, object] = {}
    left = list(values)
    for name in names:
        if name.startswith("*"):
            named |= {name[1:]: Several(left)} if left else {}
            left = []
        elif left:
            named[name] = left.pop(0)
    return named | ({"rest": Several(left)} if left else {})


def identify(probe: Probe) -> Record:
    """Return the part of a record that is known before the call."""
    args = {name: describe(value) for name, value in probe.operands.items() if value is not None}
    return {"op": probe.op, "code": probe.code, "args": args, "names": probe.names}


def measure(probe: Probe, watch: CallMeter) -> Record:
    """Run the call a few times and record what it did; an error becomes part of the record."""
    record = identify(probe)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return record | _observe(probe, watch)
    except Exception as error:
        text = str(error).strip()
        return record | {"error": f"{type(error).__name__}: {text.splitlines()[0][:160] if text else ''}"}


def _observe(probe: Probe, watch: CallMeter) -> Record:
    probe.before()
    result = probe.call()  # the first call also loads kernels and fills the allocator's cache
    found = {
        "result": describe(result),
        "shares": _shares_memory(result, next(iter(probe.operands.values()), None)),
    }
    del result
    overloads = _overloads(probe, watch)
    dynamic = bool(overloads.pop(DYNAMIC, 0))
    seen = watch(probe.call, probe.before)
    return {
        "waited": seen.waited,
        "busy_ms": round(seen.busy_ms, 3),
        "idle_ms": round(seen.idle_ms, 3),
        "calls": seen.calls,
        "aten": overloads,
        "dynamic": dynamic,
        **found,
    }


def _shares_memory(result: object, operand: object) -> bool:
    first, second = _first_tensor(result), _first_tensor(operand)
    if first is None or second is None:
        return False
    try:
        return bool(first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr() != 0)
    except (RuntimeError, NotImplementedError):  # a sparse tensor has no storage of its own
        return first is second


def _first_tensor(value: object) -> Any:
    import torch  # noqa: PLC0415

    if isinstance(value, (list, tuple)):
        return next((found for item in value if (found := _first_tensor(item)) is not None), None)
    return value if isinstance(value, torch.Tensor) else None


def _overloads(probe: Probe, watch: CallMeter) -> dict[str, int]:
    """Return the aten overloads that a call runs, each with its count of blocking CUDA calls."""
    import torch  # noqa: PLC0415
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415

    seen: dict[str, int] = {}

    class ProbeRecorder(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            before = watch.blocking_calls()
            result = func(*args, **(kwargs or {}))
            name = str(func)
            seen[name] = seen.get(name, 0) + watch.blocking_calls() - before
            if watch.blocking_calls() > before and torch.Tag.dynamic_output_shape in func.tags:
                seen[DYNAMIC] = seen.get(DYNAMIC, 0) + 1
            return result

    probe.before()
    try:
        with ProbeRecorder():
            probe.call()
    except Exception:
        watch.settle()
        return {}
    return seen
