"""Reads and stores of attributes: their values, and the properties that run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.domain.value import fact
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.prove.assumptions import dtype_named
from syncscan.check.prove.bodies import related_to
from syncscan.check.prove.decorators import decorate
from syncscan.check.prove.frame import TRANSFERS, WalkFrame, handles
from syncscan.check.prove.lacking import having
from syncscan.check.prove.names import definition_value, module_value, submodule_of
from syncscan.check.prove.packages import TRANSPARENT_DECORATORS
from syncscan.check.prove.setters import sets_attribute
from syncscan.check.prove.source import Asked, Question
from syncscan.check.prove.special import runs, runs_descriptors, runs_method
from syncscan.check.prove.values import (
    A_CLASS,
    ANYWHERE,
    BOOL,
    BOTTOM,
    HOST,
    INT,
    NO_TENSOR,
    NONE,
    NUMBER,
    PROPERTY,
    STRING,
    TOP,
    AbstractValue,
    DictMethod,
    elements,
    external,
    join,
    join_all,
    kept_outside,
    list_of,
    refine,
    tensor,
    with_keys,
)
from syncscan.model import Device, Kind

_SAME_PLACE = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
_NUMBERS = frozenset({"ndim", "itemsize", "nbytes", "size"})
_FLAGS = frozenset({"is_cuda", "is_cpu", "requires_grad", "is_leaf", "is_sparse", "is_quantized", "is_meta"})
# Properties that distributions such as `StudentT` and `Dirichlet` compute with masks.
_OF_DISTRIBUTIONS = frozenset({"mode", "stddev", "variance"})
_CALLED_BY_PYTHON = frozenset(
    name for cls in (object, int, list, dict) for name in dir(cls) if callable(getattr(cls, name))
) | {"__call__", "__enter__", "__exit__"}
_PYTHON = {Kind.LIST: list, Kind.TUPLE: tuple, Kind.DICT: dict, Kind.SET: set}
_READING = frozenset({"get", "items", "keys", "values"})  # methods of dictionaries that change nothing
_SHAPE = list_of(INT, Kind.TUPLE)
# Attributes of arrays and tensors, and of classes that are never tensors; see `_of_anything`.
_OF_ARRAYS = {
    "shape": _SHAPE,
    "ndim": INT,
    "dtype": AbstractValue(Kind.DTYPE),
    "device": AbstractValue(Kind.DEVICE, Device.MIXED),
    "is_cuda": BOOL,
    "is_cpu": BOOL,
    "requires_grad": BOOL,
}
_OF_ALL = {
    "__class__": A_CLASS,
    "__dict__": with_keys(list_of(TOP, Kind.DICT), STRING),
    "__name__": STRING,
    "__qualname__": STRING,
    "__module__": STRING,
    "__doc__": STRING,
}


@handles(TRANSFERS, "attribute")
def attribute(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> AbstractValue:
    """Walk a read of an attribute; return the value."""
    if name in _OF_ALL:
        return _OF_ALL[name]
    options = having(frame, [each for each in base.options if each is not NONE] or [base], name)
    found = join_all([_of_option(frame, node, each, name) for each in options])
    holder = _read_of(node)
    if not isinstance(holder, ast.Name) or holder.id not in frame.function.by_name or found is BOTTOM:
        return found
    if any(
        map(partial(_may_be_defined, frame, name), options)
    ):  # a property goes before what the object holds
        return found
    met = frame.prover.recorded.met_by_attribute(frame.function, f"{holder.id}.{name}", found)
    has_default = isinstance(node, ast.Call) and len(node.args) > len(("object", "name"))
    return met if met is not BOTTOM or has_default else found


def _read_of(node: ast.AST) -> ast.expr | None:
    """Return the object whose attribute an expression reads: ``x`` for ``x.a`` and for ``getattr(x, "a")``."""
    if isinstance(node, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return node.args[0] if node.args else None
    return None


def _may_be_defined(frame: WalkFrame, name: str, value: AbstractValue) -> bool:
    """Return whether the class of a value may define an attribute, by a method or a property."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    found = frame.source.overrides(cls, name) if isinstance(cls, Class) else frame.source.methods_named(name)
    return bool(found)


def _of_option(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> AbstractValue:
    payload = base.payload
    if isinstance(payload, Class) and base.kind is Kind.INSTANCE:
        return of_instance(frame, node, base, payload, name)
    if isinstance(payload, Class) and base.kind is Kind.CLASS:
        return _of_class(frame, node, base, name)
    if base.kind is Kind.MODULE:
        is_own = isinstance(payload, Module)
        if isinstance(payload, Module):
            _runs_of_module(frame, node, payload, name)
        return module_value(frame.prover, payload, name) if is_own else _of_outside(f"{payload}.{name}")
    if name in _OF_DISTRIBUTIONS and _may_be_distribution(frame, base):
        reason = f"a distribution of torch may index with a mask to compute its `{name}`"
        frame.may(node, None, reason, "compute it from the parameters of the distribution")
    known = _BY_KIND.get(base.kind)
    return _of_anything(frame, node, name) if known is None else known(base, name)


def _may_be_distribution(frame: WalkFrame, base: AbstractValue) -> bool:
    """Return whether an object may be a distribution of torch; unknown objects are none where the project names none."""
    if base.kind is Kind.INSTANCE:
        return str(base.payload).startswith("torch.distributions.")
    return base is TOP and frame.source.has_distributions


def _runs_of_module(frame: WalkFrame, node: ast.AST, module: Module, name: str) -> None:
    """Note the ``__getattr__`` of a module, which gives what the module itself binds for type checkers at most."""
    bindings = frame.source.bindings(module)
    found = bindings.by_name.get("__getattr__", ())
    if (
        not found
        or submodule_of(frame.prover, module, name) is not None
        or name in frame.source.bound_at_run(module)
    ):
        return
    for each in found:
        if isinstance(each, Function):
            frame.calls(node, each)


def _of_array(base: AbstractValue, name: str) -> AbstractValue:
    if name in _NUMBERS:
        return INT
    if name == "dtype":
        return AbstractValue(Kind.DTYPE)
    return _SHAPE if name == "shape" else base if name in {"T", "real", "imag"} else HOST


def _of_dtype(_: AbstractValue, name: str) -> AbstractValue:
    return INT if name == "itemsize" else BOOL if name.startswith("is_") else STRING


def _of_slice(base: AbstractValue, _: str) -> AbstractValue:
    """Return a bound of a slice."""
    return join_all(base.items) if base.items else TOP


def _of_device(base: AbstractValue, name: str) -> AbstractValue:
    known = {Device.CPU: "cpu", Device.CUDA: "cuda"}.get(base.device)
    return refine(STRING, payload=known) if name == "type" else join(NUMBER, NONE)


def _of_foreign(base: AbstractValue, name: str) -> AbstractValue:
    """Return an attribute of an object of torch (a stream, an event, a layer), or of Python."""
    if base is HOST:
        return HOST
    return NO_TENSOR if name in {"type", "index", "device", "cuda_stream"} else TOP


def _of_plain(*_: object) -> AbstractValue:
    return NO_TENSOR


def _of_container(base: AbstractValue, name: str) -> AbstractValue:
    """Return an attribute of a container, which may be of a subclass; the fields of a tuple are its items."""
    if base.kind is Kind.DICT and name in _READING:  # as a value: `map(table.get, keys)`
        return AbstractValue(Kind.FUNCTION, payload=BoundMethod(DictMethod(name), kept_outside(base)))
    if hasattr(_PYTHON[base.kind], name):
        return NO_TENSOR
    return elements(base) if base.kind is Kind.TUPLE else TOP


def _of_tensor(base: AbstractValue, name: str) -> AbstractValue:
    if name == "device":
        return AbstractValue(Kind.DEVICE, base.device)
    if name == "dtype":
        return refine(AbstractValue(Kind.DTYPE), dtype=fact(base, "dtype"))
    if name == "shape":
        return _SHAPE
    if name in _SAME_PLACE:
        return tensor(base.device, base.dtype)
    if name == "grad":
        return join(ANYWHERE, NONE)
    if name == "ndim" and base.ndim is not None:
        return refine(INT, payload=base.ndim)
    if name in _NUMBERS:
        return INT
    if name in _FLAGS:
        return BOOL
    return NO_TENSOR if name in {"grad_fn", "layout", "names"} else TOP


_BY_KIND: dict[Kind, Callable[[AbstractValue, str], AbstractValue]] = {
    Kind.TENSOR: _of_tensor,
    Kind.NDARRAY: _of_array,
    Kind.NUMBER: _of_array,
    Kind.DEVICE: _of_device,
    Kind.INSTANCE: _of_foreign,
    Kind.SLICE: _of_slice,
    Kind.DTYPE: _of_dtype,
    **dict.fromkeys((Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET), _of_container),
    **dict.fromkeys((Kind.STRING, Kind.NONE), _of_plain),
}


def _of_outside(name: str) -> AbstractValue:
    """Return an attribute of a module outside the project."""
    root, _, last = name.rpartition(".")
    if root in {"torch", "numpy", "np"} and (dtype := dtype_named(last)) is not None and last[:1].islower():
        return AbstractValue(Kind.DTYPE, dtype=dtype)
    if root in {"math", "numpy", "sys"} and last in {"pi", "inf", "e", "nan", "maxsize", "tau"}:
        return NUMBER
    if name in {"torch.strided", "torch.channels_last", "torch.contiguous_format", "torch.preserve_format"}:
        return NO_TENSOR
    return external(name)


def of_instance(frame: WalkFrame, node: ast.AST, base: AbstractValue, cls: Class, name: str) -> AbstractValue:
    """Walk a read of an attribute of an object of a class, or of one below it."""
    runs_descriptors(frame, node, base, name, "__get__")
    runs(frame, node, base, "__getattribute__")
    methods = frame.source.overrides(cls, name)
    related = related_to(cls)
    _reads_set_property(frame, node, cls, name)
    if methods:
        values = [*_of_methods(frame, node, base, methods)]
        if any(True for _ in frame.source.bodies.plain(related, name)):
            values.append(frame.prover.attribute(cls, name))
        return join_all(values) if values else TOP
    if name in cls.nested:
        return definition_value(cls.nested[name])
    for method in frame.source.bodies.functions_of(related, name):
        frame.calls(node, method)
    found = frame.prover.attribute(cls, name)
    if name == "training" and cls.is_module and found is TOP:
        return BOOL
    if found is TOP or not _is_set(frame, related, name):
        runs(frame, node, base, "__getattr__")
    return found


def _reads_set_property(frame: WalkFrame, node: ast.AST, cls: Class, name: str) -> None:
    """Note the property, or the descriptor, that code of the project sets on a class: ``Box.size = property(size)``."""
    written = frame.prover.written(cls, name)
    for option in (written.options or (written,)) if written is not None else ():
        if option.payload == PROPERTY.payload:
            frame.unknown(node, f"reads a property that the project sets on `{cls.name}`")
        elif isinstance(option.payload, Class) and option.kind is Kind.INSTANCE:
            runs(frame, node, option, "__get__")


def _is_set(frame: WalkFrame, classes: Iterable[Class], name: str) -> bool:
    """Return whether the project sets an attribute anywhere, which an annotation alone does not."""
    if any(each.is_record and each.annotates(name) for each in classes):
        return True
    is_stored = bool(frame.prover.answer(Question(Asked.STORING, name=name)))
    return is_stored or any(True for _ in frame.source.bodies.values(classes, name))


def _of_methods(
    frame: WalkFrame, node: ast.AST, base: AbstractValue, methods: Iterable[Function]
) -> Iterator[AbstractValue]:
    """Yield what reading an attribute gives where methods define it: the method, or the value of a property."""
    for method in methods:
        if not (method.is_property or _is_wrapped(frame, method)):
            yield AbstractValue(Kind.FUNCTION, payload=BoundMethod(method, base))
        elif frame.prover.ran.body(method):
            yield reads_property(frame, node, method)


def _is_wrapped(frame: WalkFrame, method: Function) -> bool:
    """Return whether a decorator may replace a method by another object, such as a property.

    Python itself calls special methods, so they stay functions.
    """
    if method.name in _CALLED_BY_PYTHON:
        return False
    return any(each.name not in TRANSPARENT_DECORATORS for each in frame.source.decoration(method))


def reads_property(frame: WalkFrame, node: ast.AST, method: Function) -> AbstractValue:
    """Walk the reading of a property."""
    frame.calls(node, method)
    return frame.prover.returned(method) if decorate(frame, node, method) else TOP


def _of_class(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> AbstractValue:
    cls: Class = base.payload
    runs(frame, node, base, name, "__getattr__", "__getattribute__")  # of a metaclass
    runs_descriptors(frame, node, base, name, "__get__")
    if name in cls.nested:
        return definition_value(cls.nested[name])
    methods = frame.source.overrides(cls, name)
    if methods:
        receiver = AbstractValue(Kind.CLASS, payload=cls)
        bound = [
            AbstractValue(Kind.FUNCTION, payload=BoundMethod(each, receiver) if each.is_of_class else each)
            for each in methods
        ]
        return join_all(bound)
    if any(base.startswith("enum.") for each in cls.mro() for base in each.external_bases):
        return AbstractValue(Kind.INSTANCE, payload=cls)
    return frame.prover.attribute(cls, name)


def _of_anything(frame: WalkFrame, node: ast.AST, name: str) -> AbstractValue:
    """Walk a read of an attribute of an unknown object: any property of that name may run."""
    methods = frame.source.methods_named(name)
    dynamic = [
        each for dunder in ("__getattr__", "__getattribute__") for each in frame.source.methods_named(dunder)
    ]
    for method in (*methods, *dynamic):
        if method.is_property or method in dynamic or _is_wrapped(frame, method):
            runs_method(frame, node, method)
    for method in frame.source.bodies.functions_of(frame.source.bodies.assigning(name), name):
        frame.calls(node, method)
    runs_descriptors(frame, node, TOP, name, "__get__")
    if name in _OF_ARRAYS and not any(map(frame.prover.ran.body, methods)):
        storing = frame.prover.answer(Question(Asked.STORING, name=name))
        if not any(frame.prover.ran.body(each) for each, _ in storing):
            return _OF_ARRAYS[name]
    return TOP


def stores_attribute(frame: WalkFrame, target: ast.Attribute, value: AbstractValue) -> None:
    """Walk the setting of an attribute in an assignment."""
    sets_attribute(frame, target, frame.evaluate(target.value), target.attr, value)
