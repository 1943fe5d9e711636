"""Calls: of functions and classes of the project, of torch, of NumPy and of Python itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from syncscan.check.infer import containers, library
from syncscan.check.infer.attributes import attribute_of
from syncscan.check.infer.callables import BoundMethod, Partial
from syncscan.check.infer.conditions import device_named
from syncscan.check.infer.index import Class, Function, Parameter
from syncscan.check.infer.narrow import key_of
from syncscan.check.infer.values import (
    as_tensor,
    element_of,
    evidence_in,
    explained,
    inferred,
    join_all,
    moved,
    parts_of,
)
from syncscan.model import UNKNOWN, Device, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame

Arguments = tuple[list[Value], dict[str, Value]]
Bound = list[tuple[Parameter, Value]]


def call(frame: Frame, node: ast.Call) -> Value:
    """The value of a call expression."""
    function = node.func
    if isinstance(function, ast.Attribute):
        if _is_super(function.value):
            args, kwargs = arguments(frame, node)
            return _call_super(frame, function.attr, args, kwargs, node)
        base = frame.evaluate(function.value)
        known = frame.env.get(key_of(function))
        args, kwargs = arguments(frame, node)
        if known is not None and known.kind is not Kind.UNKNOWN:
            return call_value(frame, known, args, kwargs, node)
        value = call_method(frame, base, function.attr, args, kwargs, node)
        containers.mutate(frame, function, base, args)
        return value
    callee = frame.evaluate(function)
    args, kwargs = arguments(frame, node)
    return call_value(frame, callee, args, kwargs, node)


def arguments(frame: Frame, node: ast.Call) -> Arguments:
    """The arguments of a call, in order; ``*args`` gives its items if they are known."""
    args: list[Value] = []
    for arg in node.args:
        value = frame.evaluate(arg)
        if isinstance(arg, ast.Starred):
            args += (
                value.items
                if value.items is not None and value.kind is not Kind.UNION
                else [element_of(value)]
            )
        else:
            args.append(value)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
    return args, kwargs


def call_value(
    frame: Frame, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    """Call a value, whatever it is."""
    payload = callee.payload
    if callee.kind is Kind.FUNCTION:
        if isinstance(payload, Function):
            return call_function(frame, payload, args, kwargs, node)
        if isinstance(payload, BoundMethod):
            return _call_bound(frame, payload, args, kwargs, node)
        if isinstance(payload, Partial):
            return call_value(
                frame, payload.callee, [*payload.args, *args], {**dict(payload.kwargs), **kwargs}, node
            )
    if callee.kind is Kind.MODULE and isinstance(payload, str):
        return library.call(frame, payload, args, kwargs, node)
    if callee.kind is Kind.CLASS and isinstance(payload, Class):
        return instantiate(frame, payload, args, kwargs, node)
    if callee.kind is Kind.INSTANCE:
        return call_method(frame, callee, "__call__", args, kwargs, node)
    if callee.kind is Kind.UNION:
        with frame.unsure():
            return join_all(call_value(frame, option, args, kwargs, node) for option in callee.options)
    return UNKNOWN


def call_method(
    frame: Frame, base: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    """Call ``base.name(...)``."""
    kind = base.kind
    if kind is Kind.TENSOR:
        return library.torch_call(frame, f"torch.Tensor.{name}", [base, *args], kwargs, node)
    if kind is Kind.INSTANCE:
        return _instance_method(frame, base, name, args, kwargs, node)
    if kind is Kind.MODULE and isinstance(base.payload, str):
        return library.call(frame, f"{base.payload}.{name}", args, kwargs, node)
    if kind is Kind.UNION:
        options = [option for option in base.options if _may_have(option, name)]
        with frame.unsure(unsure=not all(option.is_gpu for option in options)):
            return join_all(call_method(frame, option, name, args, kwargs, node) for option in options)
    if kind is Kind.NDARRAY:
        return library.array_method(frame, base, name, args, kwargs, node)
    if kind in containers.KINDS:
        if kind is Kind.STRING and name == "format":
            return library.call(frame, "builtins.str.format", [base, *args], kwargs, node)
        return containers.method(base, name, args)
    if kind in {Kind.MODULE, Kind.CLASS}:
        return call_value(frame, attribute_of(frame, base, name, node), args, kwargs, node)
    if kind is Kind.MOVED and library.is_of_tensors_alone(frame, name):
        return library.torch_call(frame, f"torch.Tensor.{name}", [as_tensor(base), *args], kwargs, node)
    if kind in {Kind.UNKNOWN, Kind.MOVED}:
        return library.moved_to_gpu(frame, base, name, args, kwargs, node)
    return UNKNOWN


_PYTHON_TYPES: dict[Kind, type] = {
    Kind.LIST: list,
    Kind.TUPLE: tuple,
    Kind.DICT: dict,
    Kind.SET: set,
    Kind.STRING: str,
    Kind.NUMBER: float,
}


def _may_have(value: Value, name: str) -> bool:
    """Whether a value may have a method: a list or an array has no ``cpu``. A NumPy number is like an array."""
    if value.kind is Kind.NDARRAY:
        return name in library.ARRAY_METHODS
    known = _PYTHON_TYPES.get(value.kind)
    return known is None or hasattr(known, name) or (known is float and name in {"item", "tolist", "astype"})


def _instance_method(
    frame: Frame, base: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    cls = base.payload
    if not isinstance(cls, Class):
        return library.instance_call(frame, base, name, args, kwargs, node)
    methods = cls.overrides(name)
    if not methods and name == "__call__":
        methods = cls.overrides("forward")
    if methods and not methods[0].is_property:
        return join_all(
            call_function(frame, method, args if method.is_static else [base, *args], kwargs, node)
            for method in methods
        )
    if cls.is_module and name in library.MODULE_METHODS:
        return library.module_method(frame, base, name, args, node)
    if name == "_replace":
        return base

    stored = attribute_of(frame, base, name, node)
    if name == "__call__" and any(option.kind is Kind.INSTANCE for option in stored.options):
        return UNKNOWN  # an object that is called by calling an object, which may be the same one
    return call_value(frame, stored, args, kwargs, node)


def _call_bound(
    frame: Frame, method: BoundMethod, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    receiver = method.receiver
    if receiver.kind is Kind.INSTANCE and isinstance(receiver.payload, Class):
        return _instance_method(frame, receiver, method.function.name, args, kwargs, node)
    return call_function(frame, method.function, [receiver, *args], kwargs, node)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _call_super(
    frame: Frame, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    scope: Function | None = frame.function
    while scope is not None and scope.owner is None:
        scope = scope.parent
    if scope is None or scope.owner is None:
        return UNKNOWN
    for base in scope.owner.mro()[1:]:
        if name in base.methods:
            receiver = Value(Kind.INSTANCE, payload=scope.owner)
            return call_function(frame, base.methods[name], [receiver, *args], kwargs, node)
    return UNKNOWN


def call_function(
    frame: Frame, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    """Pass arguments to a function of the project, and take what it is known to return."""
    frame.function.callees[function] = None
    bound = bind(function, args, kwargs)
    pass_arguments(frame, function, bound, node)
    value = frame.read(function.returns)
    declared = getattr(function.node, "returns", None)
    if declared is not None and (value.kind is Kind.UNKNOWN or value.kind is Kind.NONE):
        value = frame.solver.annotations.read(declared, function.module, function)
    if isinstance(value.payload, Class) and value.kind is Kind.INSTANCE:
        value = _self_type(function, value, args)
    if function.follows and not function.leads:
        value = _where_given(frame, function, value, bound)
    if value.kind is Kind.TENSOR and value.device is Device.UNKNOWN:
        return frame.named(value, function.name)
    return value


def _where_given(frame: Frame, function: Function, value: Value, bound: Bound) -> Value:
    """What a function returns that works where its arguments live, to a caller that passes these."""
    given = [(parameter, argument) for parameter, argument in bound if parameter.name in function.follows]
    places = {place for _, argument in given for part in parts_of(argument) for place in _place_of(part)}
    if not places or places & {Device.CUDA, Device.MIXED}:
        return value
    if places == {Device.CPU}:
        return moved(value, Device.CPU)
    if frame.assume() and any(
        "device" in parameter.name or not any(evidence_in(parameter.cell.value)) for parameter, _ in given
    ):
        return value  # a device that only the run decides, or a tensor that nobody is seen to place
    return moved(value, Device.UNKNOWN)


def _place_of(value: Value) -> set[Device]:
    """The place that an argument names or has; nothing if it has none."""
    if value.kind in {Kind.NUMBER, Kind.NONE}:
        return set()
    if value.kind is Kind.NDARRAY:
        return {Device.CPU}
    if value.kind is Kind.STRING:
        name = str(value.payload).partition(":")[0]
        return {{"cuda": Device.CUDA, "cpu": Device.CPU}.get(name, Device.UNKNOWN)}
    return {value.device}


def _self_type(function: Function, value: Value, args: list[Value]) -> Value:
    """A method that returns its own object returns one of the caller's class."""
    if not args or function.owner is not value.payload or args[0].kind is not Kind.INSTANCE:
        return value
    return args[0] if isinstance(args[0].payload, Class) and value.payload in args[0].payload.mro() else value


def bind(function: Function, args: list[Value], kwargs: dict[str, Value]) -> Bound:
    """The parameters that a call fills, each with its argument; several times where it takes several."""
    bound: Bound = []
    plain = [p for p in function.parameters if not p.star and not p.keyword_only]
    bound += zip(plain, args, strict=False)
    rest = next((p for p in function.parameters if p.star == "*"), None)
    if rest is not None:
        bound += [(rest, value) for value in args[len(plain) :]]
    more = next((p for p in function.parameters if p.star == "**"), None)
    for name, value in kwargs.items():
        target = function.by_name.get(name, more)
        if target is not None:
            bound.append((target, value))
    return bound


def pass_arguments(frame: Frame, function: Function, bound: Bound, node: ast.expr) -> None:
    """Join arguments to the parameters, and look at the function again if that tells more."""
    changed = [_pass(frame, function, parameter, value, node) for parameter, value in bound]
    if any(changed):
        frame.solver.enqueue(function)


def _pass(frame: Frame, function: Function, parameter: Parameter, value: Value, node: ast.expr) -> bool:
    cell = parameter.cell
    if value is UNKNOWN or cell.value is value or not frame.may_tell(function.module):
        return False
    passed = inferred(_as_device(value) if "device" in parameter.name else value)
    if not cell.would_grow(passed):
        return False
    text = f"`{parameter.name}` of `{function.qualname}` is passed here"
    cell.join(explained(passed, frame.module.path, node.lineno, text))
    frame.solver.changed(cell)
    return True


def _as_device(value: Value) -> Value:
    """A device that is passed by its name or number, so that what callers name is one device, which may vary."""
    place = device_named(value)
    is_named = value.kind in {Kind.STRING, Kind.NUMBER} and place in {Device.CUDA, Device.CPU}
    return Value(Kind.DEVICE, place) if is_named else value


def instantiate(
    frame: Frame, cls: Class, args: list[Value], kwargs: dict[str, Value], node: ast.expr
) -> Value:
    """Make an object of a class of the project."""
    instance = Value(Kind.INSTANCE, payload=cls)
    init = cls.find_method("__init__")
    if init is not None:
        frame.function.callees[init] = None
        pass_arguments(frame, init, bind(init, [instance, *args], kwargs), node)
    elif cls.is_record or cls.external_bases:
        for name, value in [*zip(cls.fields(), args, strict=False), *kwargs.items()]:
            frame.store_attribute(cls, name, value, node)
    post = cls.find_method("__post_init__")
    if post is not None:
        frame.function.callees[post] = None
    return instance
