"""What ``base.name`` is: an attribute of an object, a class, a module, a tensor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from syncscan.check.infer.callables import BoundMethod
from syncscan.check.infer.index import Class, Module
from syncscan.check.infer.operations import dtype_class
from syncscan.check.infer.values import (
    BOOL,
    INT,
    NONE,
    NUMBER,
    STRING,
    join,
    join_all,
    list_of,
    refine,
)
from syncscan.model import ARRAYS, UNKNOWN, Confidence, Device, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame

_SAME_PLACE = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
_NUMBERS = frozenset(
    {"ndim", "itemsize", "nbytes", "is_cuda", "is_cpu", "requires_grad", "is_leaf", "is_sparse"}
)


def attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """The value of ``base.name``; reading a property runs it."""
    kind = base.kind
    if kind is Kind.INSTANCE:
        return instance_attribute(frame, base, name, node)
    if kind in ARRAYS:
        return _array_attribute(frame, base, name)
    if kind is Kind.MODULE:
        return _member(frame, base, name)
    if kind is Kind.CLASS:
        return _class_attribute(frame, base, name)
    if kind is Kind.UNION:
        return join_all(attribute_of(frame, option, name, node) for option in base.options)
    if kind is Kind.DEVICE:
        return (
            refine(STRING, payload=base.device.value)
            if name == "type" and base.device is Device.CUDA
            else UNKNOWN
        )
    return UNKNOWN


def _array_attribute(frame: Frame, base: Value, name: str) -> Value:
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


def _member(frame: Frame, base: Value, name: str) -> Value:
    if isinstance(base.payload, str):
        return external(f"{base.payload}.{name}")
    module = base.payload
    assert isinstance(module, Module)
    return frame.module_name(module, name)


def external(name: str) -> Value:
    """Something outside the project, by its full name."""
    if name.startswith("torch.") and (dtype := dtype_class(name)) and name.count(".") == 1:
        return Value(Kind.DTYPE, dtype=dtype)
    if name in {"numpy.bool_", "numpy.int32", "numpy.int64", "numpy.float32", "numpy.float64"}:
        return Value(Kind.DTYPE, dtype=dtype_class(name.rstrip("_")), payload=name)
    if name == "numpy.newaxis":
        return NONE
    if name in {"math.inf", "math.pi", "numpy.inf", "numpy.nan", "sys.maxsize"}:
        return NUMBER
    return Value(Kind.MODULE, payload=name)


def _class_attribute(frame: Frame, base: Value, name: str) -> Value:
    cls = base.payload
    assert isinstance(cls, Class)
    if name in cls.nested:
        return Value(Kind.CLASS, payload=cls.nested[name])
    method = cls.find_method(name)
    if method is not None:
        if "classmethod" in method.decorators:
            return Value(Kind.FUNCTION, payload=BoundMethod(method, base))
        return Value(Kind.FUNCTION, payload=method)
    return _joined_cells(frame, cls, name)


def _joined_cells(frame: Frame, cls: Class, name: str) -> Value:
    cells = cls.cells(name)
    if not any(name in base.stored for base in cls.mro()):
        frame.solver.misses_attribute(name, frame.function)
    return join_all(frame.read(cell) for cell in cells)


def instance_attribute(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """An attribute of an object of the project: what its property returns, or what was stored."""
    cls = base.payload
    if not isinstance(cls, Class):
        return UNKNOWN
    methods = cls.overrides(name)
    if methods:
        if methods[0].is_property:
            if frame.recorder is not None:
                frame.recorder.property_read(node, methods)
            return join_all(frame.call_function(method, [base], {}, node) for method in methods)
        return Value(Kind.FUNCTION, payload=BoundMethod(methods[0], base))
    value = _joined_cells(frame, cls, name)
    if value.kind is Kind.UNKNOWN or (value.kind is Kind.TENSOR and value.device is Device.UNKNOWN):
        return declared(frame, cls, name, value)
    return value


def declared(frame: Frame, cls: Class, name: str, value: Value) -> Value:
    """What an annotation in a class body says of an attribute that nothing is known to set."""
    for base in cls.mro():
        if name in base.annotations:
            promised = frame.solver.annotations.read(base.annotations[name], base.module, base.parent)
            promised = join(value, promised)
            return frame.assumed_tensor(promised, name, base.module.path, base.annotations[name].lineno)
    return value
