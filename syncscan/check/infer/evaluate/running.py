"""One function, evaluated from its parameters to what it returns."""

from __future__ import annotations

from dataclasses import replace

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import assumed_tensor
from syncscan.check.infer.evaluate.registry import BODIES
from syncscan.check.infer.evaluate.virtual import arguments, tell_result
from syncscan.check.infer.source.index import Function, Parameter
from syncscan.check.infer.values.basic import EMPTY, list_of, put
from syncscan.check.infer.values.lattice import as_tensor, join, join_all
from syncscan.check.infer.values.passing import evidence_in
from syncscan.model import ARRAYS, UNKNOWN, Confidence, Device, Kind, Value

_HOST_SCALARS = frozenset({Kind.NUMBER, Kind.STRING, Kind.DTYPE})


def evaluate(frame: Frame) -> None:
    """Evaluate a function from what is known now; the outcome of the frame is what it read, and what it tells."""
    function = frame.function
    if function.is_of_a_kernel:
        return
    virtual = arguments(frame)
    for position, parameter in enumerate(function.parameters):
        frame.env[parameter.name] = _argument(frame, parameter, position, virtual.get(parameter, UNKNOWN))
    BODIES[type(function.node)](frame, function.node)
    if function.is_generator:
        frame.tell(frame.context.known.returns[function], list_of(frame.yielded))
    tell_result(frame)
    _publish_captured(frame)


def _argument(frame: Frame, parameter: Parameter, position: int, virtual: Value) -> Value:
    function = frame.function
    if position == 0 and function.owner is not None and not function.is_static:
        of_class = function.is_of_class or function.name == "__new__"
        return Value(Kind.CLASS if of_class else Kind.INSTANCE, payload=function.owner)
    value = _passed(frame, parameter, virtual)
    value = frame.context.observations.parameter(function, parameter.name, value)
    if parameter.name in frame.context.chosen_by_text(function):
        value = frame.texts_of[parameter] = replace(value)  # which is known again by its identity
    for why in evidence_in(value):
        if why is not None:
            frame.passed[why] = parameter.name
    return value


def _passed(frame: Frame, parameter: Parameter, virtual: Value) -> Value:
    """What the callers, the annotation and the default say of a parameter, and else its name."""
    value = join(frame.read(frame.context.known.parameters[parameter]), virtual)
    promised = frame.context.annotations.read(parameter.annotation, frame.module, frame.function)
    if parameter.star == "*":
        return list_of(join(value, promised), Kind.TUPLE)
    if parameter.star:
        return value if value.kind is Kind.DICT else put(EMPTY, UNKNOWN, promised)
    if promised.kind is Kind.TENSOR:
        value = as_tensor(value)
    nobody_is_seen_to_pass = value.kind is Kind.UNKNOWN
    value = _as_promised(value, promised)
    if parameter.default is not None:
        value = _with_default(value, frame.evaluate(parameter.default), alone=nobody_is_seen_to_pass)
    if (
        value is UNKNOWN
        and frame.assume()
        and parameter.name in frame.context.used_as_tensors(frame.function)
    ):
        return _as_it_is_used(frame, parameter)
    node = parameter.annotation or frame.function.node
    confidence = Confidence.INFERRED if _takes_batches(frame.function) else Confidence.ASSUMED
    return assumed_tensor(frame, value, parameter.name, frame.module.path, node, confidence)


_OF_BATCHES = frozenset(
    {"forward", "update", "training_step", "validation_step", "test_step", "predict_step"}
)


def _takes_batches(function: Function) -> bool:
    """Whether frameworks call a method of a module with each batch, on the GPU where the module is."""
    return function.name in _OF_BATCHES and function.owner is not None and function.owner.is_module


def _as_it_is_used(frame: Frame, parameter: Parameter) -> Value:
    """A tensor that nobody is seen to pass, and that nothing but its use shows to be one."""
    name = parameter.name
    if frame.place_of(name) is Device.CPU:
        return Value(Kind.TENSOR, Device.CPU, Confidence.ASSUMED)
    evidence = frame.evidence(
        frame.function.node, f"`{name}` is used as a tensor: it waits if its argument is on the GPU"
    )
    return Value(Kind.TENSOR, Device.CUDA, Confidence.ASSUMED, evidence=evidence)


def _as_promised(value: Value, promised: Value) -> Value:
    """What is passed where an annotation promises something."""
    if value.kind is Kind.UNKNOWN:
        return promised
    if promised.kind in _HOST_SCALARS and value.kind not in {promised.kind, Kind.DEVICE}:
        return promised
    if promised.kind is Kind.UNION:
        return _as_one_of(value, promised)
    if promised.kind in ARRAYS and value.kind not in ARRAYS:
        if value.kind is Kind.NUMBER:  # what is said to be an array was an item of one somewhere on the way
            return promised
        return value if _are_numbers(value) else join(value, promised)
    return value


def _as_one_of(value: Value, promised: Value) -> Value:
    """What is passed where an annotation promises one of several; a tensor waits in the calls that pass it."""
    if all(option.kind in _HOST_SCALARS for option in promised.options):
        return promised if any(option.kind in ARRAYS for option in value.options) else value
    if any(option.kind is Kind.TENSOR for option in promised.options) and value.kind is Kind.UNION:
        others = tuple(option for option in value.items or () if option.kind is not Kind.NUMBER)
        return join_all(others) if any(option.is_gpu for option in others) else value
    return value


def _are_numbers(value: Value) -> bool:
    """Whether a list holds numbers, or lists of them: who passes that has no array, whatever is promised."""
    if value.kind not in {Kind.LIST, Kind.TUPLE}:
        return False
    inside = value.items if value.items is not None else (value.element or UNKNOWN,)
    return bool(inside) and all(item.kind is Kind.NUMBER or _are_numbers(item) for item in inside)


def _with_default(value: Value, default: Value, *, alone: bool) -> Value:
    """What is passed, or the default; ``alone`` where nobody is seen to pass anything."""
    if alone and (default.kind is Kind.STRING or default.device in {Device.CPU, Device.CUDA}):
        return default  # such as the name of a device, or a device
    may_be_left_out = default.kind is Kind.NONE or value.kind is Kind.UNKNOWN
    if may_be_left_out or (value.payload is not None and value.payload != default.payload):
        return join(value, default)
    return value


def _publish_captured(frame: Frame) -> None:
    """Tell the functions that are defined in this one what its names are."""
    function = frame.function
    if not function.children and not frame.outcome.lambdas:
        return
    for name in frame.context.scopes.captured_of(function):
        if name in frame.env:
            frame.tell(frame.context.known.captured[function, name], frame.env[name])
