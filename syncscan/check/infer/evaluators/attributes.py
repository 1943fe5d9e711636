"""What ``base.name`` is: an attribute of an object, a class, a module, a tensor."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import assumed_tensor
from syncscan.check.infer.evaluate.names import external, module_name
from syncscan.check.infer.evaluate.registry import ATTRIBUTES, register
from syncscan.check.infer.evaluators.functions import call_overrides
from syncscan.check.infer.source.conventions import is_tensor_of_models
from syncscan.check.infer.source.index import Class, Module
from syncscan.check.infer.values.basic import BOOL, INT, STRING, list_of, refine
from syncscan.check.infer.values.callables import BoundMethod
from syncscan.check.infer.values.lattice import join, join_all
from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value

_SAME_PLACE = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
_NUMBERS = frozenset(
    {"ndim", "itemsize", "nbytes", "is_cuda", "is_cpu", "requires_grad", "is_leaf", "is_sparse"}
)


@register(ATTRIBUTES, Kind.UNION)
def _of_any(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    return join_all(frame.attribute(option, name, node) for option in base.options)


@register(ATTRIBUTES, Kind.TENSOR, Kind.NDARRAY)
def _of_array(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    if name == "device":
        # what is placed with some variable device is inferred, however little is known of that tensor
        confidence = max(base.confidence, Confidence.INFERRED)
        return Value(Kind.DEVICE, base.device, confidence, evidence=base.evidence)
    if name == "dtype":
        return Value(Kind.DTYPE, dtype=base.dtype)
    if name == "shape":
        return list_of(INT, Kind.TUPLE)
    if name in _SAME_PLACE:
        return base
    if name in _NUMBERS:
        return BOOL if name.startswith(("is_", "requires")) else INT
    return UNKNOWN


@register(ATTRIBUTES, Kind.MOVED)
def _of_moved(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """The tensors of a batch that was moved, and of what a module gives; of what else they have nothing is known."""
    return base if is_tensor_of_models(name) else UNKNOWN


@register(ATTRIBUTES, Kind.DEVICE)
def _of_device(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    known = name == "type" and base.device in {Device.CUDA, Device.CPU}
    return refine(STRING, payload=base.device.value) if known else UNKNOWN


@register(ATTRIBUTES, Kind.MODULE)
def _of_module(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    if isinstance(base.payload, str):
        return external(f"{base.payload}.{name}")
    module = base.payload
    assert isinstance(module, Module)
    frame.asks(module, name)
    return module_name(frame, module, name)


@register(ATTRIBUTES, Kind.CLASS)
def _of_class(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    cls = base.payload
    assert isinstance(cls, Class)
    frame.asks(cls, name)
    if name in cls.nested:
        return Value(Kind.CLASS, payload=cls.nested[name])
    method = cls.find_method(name)
    if method is not None:
        if method.is_of_class:
            return Value(Kind.FUNCTION, payload=BoundMethod(method, base))
        return Value(Kind.FUNCTION, payload=method)
    return _stored(frame, cls, name)


@register(ATTRIBUTES, Kind.INSTANCE)
def _of_instance(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """What its property returns, or what was stored."""
    cls = base.payload
    if not isinstance(cls, Class):
        return UNKNOWN
    frame.asks(cls, name)
    methods = cls.overrides(name)
    if methods:
        if not methods[0].is_property:
            return Value(Kind.FUNCTION, payload=BoundMethod(methods[0], base))
        if frame.recorder is not None:
            frame.recorder.property_read(node, methods)
        return call_overrides(frame, base, cls, name, Call((), {}, node))
    fields = frame.fields(cls) if base.items is not None else []
    value = base.items[fields.index(name)] if base.items and name in fields else _stored(frame, cls, name)
    if value.kind is Kind.UNKNOWN or (value.kind is Kind.TENSOR and value.device is Device.UNKNOWN):
        value = _declared(frame, cls, name, value)
    return frame.context.observations.attribute(cls, name, frame.function, value)


def _stored(frame: Frame, cls: Class, name: str) -> Value:
    """What is set in an attribute by a class and its bases, or else by its subclasses.

    As `__init__` starts an object has what the bodies of its classes set, such as constants that it moves.
    """
    known = frame.context.known
    outside = frame.read(known.set_outside[name])
    owners = [base for base in cls.mro() if name in base.stored or (outside and base in outside)]
    if not owners:
        set_there = sorted((below for below in outside if cls in below.mro()), key=lambda below: below.key)
        owners = [*dict.fromkeys((*cls.storing_below(name), *set_there))]
    if frame.function.name == "__init__" and frame.function.owner is cls:
        by_bodies = join_all(frame.read(known.set_in_bodies[owner, name]) for owner in owners)
        if by_bodies is not UNKNOWN:
            return by_bodies
    return join_all(frame.read(known.attributes[owner, name]) for owner in owners)


def _declared(frame: Frame, cls: Class, name: str, value: Value) -> Value:
    """What an annotation in a class body says of an attribute that nothing is known to set."""
    for base in cls.mro():
        if name in base.annotations:
            annotation = base.annotations[name]
            promised = join(value, frame.context.annotations.read(annotation, base.module, base.parent))
            sure = (
                Confidence.INFERRED if cls.is_module else Confidence.ASSUMED
            )  # buffers move with their module
            return assumed_tensor(frame, promised, name, base.module.path, annotation, sure)
    return value
