"""Hooks of modules and tensors: functions that torch calls later, with the inputs and the outputs of a module, or with a gradient."""

from __future__ import annotations

from syncscan.check.infer.dataflow.cells import UNLESS_NONE
from syncscan.check.infer.domain.basic import is_module, list_of
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Confidence, Device, Kind

_TENSORS, _OUTPUT = "a tuple of tensors", "the output of the module"
_OF_MODULES = {
    "register_forward_pre_hook": (_TENSORS,),
    "register_forward_hook": (_TENSORS, _OUTPUT),
    "register_full_backward_pre_hook": (_TENSORS,),
    "register_full_backward_hook": (_TENSORS, _TENSORS),
}
_OF_TENSORS = frozenset({"register_hook", "register_post_accumulate_grad_hook"})
HOOKS = _OF_TENSORS | _OF_MODULES.keys()  # the methods that take one


def hand_on(at: Point, base: AbstractValue, name: str, call: Call) -> None:
    """Contribute the arguments with which torch calls a hook that a module or a tensor is given."""
    hook = call.given(0, "hook")
    if hook is BOTTOM or "with_kwargs" in call.kwargs:
        return
    if name in _OF_TENSORS and base.kind is Kind.TENSOR:
        at.call_later(hook, Call((base,), {}))
    elif name in _OF_MODULES and _may_be_on_gpu(base):
        passed = [_passed(at, base, what) for what in _OF_MODULES[name]]
        at.call_later(hook, Call((base, *passed), {}))


def _may_be_on_gpu(base: AbstractValue) -> bool:
    """Return whether a value is unknown, or a module that is not known to be on the host."""
    return base.kind is Kind.UNKNOWN or all(
        is_module(option) and option.device is not Device.CPU for option in base.options
    )


def _passed(at: Point, module: AbstractValue, what: str) -> AbstractValue:
    if what == _OUTPUT:
        known = join_all([_returned(at, option) for option in module.options])
        if known is not BOTTOM:
            return known
    if not at.stays_open() or not at.assume():
        return BOTTOM
    at.origin("a module gives its hooks tensors on the device of the module")
    there = AbstractValue(Kind.MOVED, Device.CUDA, Confidence.INFERRED)
    return there if what == _OUTPUT else list_of(refine(there, kind=Kind.TENSOR), Kind.TUPLE)


def _returned(at: Point, module: AbstractValue) -> AbstractValue:
    """Return what the ``forward`` of a module of the project returns."""
    if not isinstance(module.payload, Class):
        return BOTTOM
    at.asks(module.payload, "forward")
    forward, known = module.payload.find_method("forward"), at.context.known
    if forward is None:
        return BOTTOM
    names = {name.removesuffix(UNLESS_NONE) for name in at.read(known.handed[forward])}
    handed = [at.read(known.parameters[each]) for each in forward.parameters if each.name in names]
    return join_all([at.read(known.returns[forward]), *handed])
