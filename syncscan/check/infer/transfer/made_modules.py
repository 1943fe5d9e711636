"""Modules as they are made: their parameters and buffers are on the host until the module moves.

An object of a module's class is on the host for the function that makes it. So it is for the callers of a function that returns the object, and
moves nothing. Others may see it after a move. A move in place does not change the value: SYN302 looks at the uses of a name up to the move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syncscan.check.infer.dataflow.context import KEPT
from syncscan.check.infer.domain.basic import is_module
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import NO_NAMES, Class, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import ANY_NAME, tell
from syncscan.model import Confidence, Device, Kind
from syncscan.ops.inferred import device_named

Passed = Iterable[tuple[Parameter, AbstractValue]]

WITH_PARAMETERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "AdaptiveLogSoftmaxWithLoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "Conv1d", "Conv2d", "Conv3d",
        "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "Embedding", "EmbeddingBag", "GRU", "GRUCell", "GroupNorm", "LSTM",
        "LSTMCell", "LayerNorm", "Linear", "MultiheadAttention", "PReLU", "RMSNorm", "RNN", "RNNCell", "SyncBatchNorm", "Transformer",
        "TransformerDecoderLayer", "TransformerEncoderLayer",
    )
)  # fmt: skip
# With these keywords, a layer may have no parameters, or have them elsewhere.
_KEYWORDS = frozenset({"affine", "device", "elementwise_affine"})
_APART = {Device.UNKNOWN, Device.CUDA}  # of parts that do not tell where the others are


def new_layer(at: Point, name: str, call: Call) -> AbstractValue:
    """Return a new layer of torch: on the device of the layers that it wraps, and on the host if it has parameters."""
    parts = _parts(call.values)
    if name in WITH_PARAMETERS and _makes_parameters(name, call):
        parts += _own_parts(at, call)
    there = join_all(parts)
    return AbstractValue(Kind.INSTANCE, there.device, there.confidence, payload=name, via=there.via)


def new_module(at: Point, value: AbstractValue, passed: Passed) -> AbstractValue:
    """Return a new object of a class of the project; a module is on the host if it makes, or keeps, parts there."""
    cls: Class = value.payload
    if not cls.is_module:
        return value
    made = [at.read(at.context.known.registered[base, ANY_NAME]) for base in cls.mro()]
    parts = [(parameter, part) for parameter, given in passed for part in _parts([given])]
    parts = [each for each in parts if each[1].device not in _APART]
    kept = _kept(at, cls) if parts else NO_NAMES
    made += [_part(part.device) for parameter, part in parts if parameter.name in kept]
    there = join_all([*made, _part(Device.OTHER)] if made and _has_default_device(at) else made)
    return refine(value, device=there.device, confidence=there.confidence)


def _kept(at: Point, cls: Class) -> frozenset[str]:
    """Return the parameters that the initialiser of a class, or that of a base class in its turn, keeps as attributes."""
    at.asks(cls, "__init__")
    initialisers = [each.methods["__init__"] for each in cls.mro() if "__init__" in each.methods]
    return frozenset(name for name, _ in _held_by(at, initialisers))


def _held_by(at: Point, initialisers: Sequence[Function]) -> frozenset[tuple[str, str]]:
    """Return the parameters that the first of some initialisers keeps, with the attributes; each runs the next one."""
    if not initialisers or initialisers[0].owner is None:
        return frozenset()
    at.asks(initialisers[0].owner, KEPT)
    held, handed, shown = at.context.kept(initialisers[0])
    if not handed or len(initialisers) == 1:
        return held
    below = _held_by(at, initialisers[1:])
    taken = {name: _parameter_at(initialisers[1], place) for place, name in handed}
    further = [(name, there) for name, other in taken.items() for each, there in below if each == other]
    return held.union((name, there) for name, there in further if there not in shown)


def _parameter_at(function: Function, place: int | str) -> str:
    """Return the name of the parameter that an argument is for, by position behind the object itself or by keyword."""
    if isinstance(place, str):
        return place
    return function.plain[place + 1].name if place + 1 < len(function.plain) else ""


def moved_module(at: Point, module: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return a module of the project after ``to`` or ``cuda``."""
    at.call_outside(f"torch.nn.Module.{name}", call.on(module))
    device = call.given(0, "device")
    if device.kind is Kind.DTYPE:
        return module
    if device is BOTTOM and name == "to" and not at.stays_open():
        return refine(module, device=Device.UNKNOWN, confidence=Confidence.PROVED)
    _tell(at, module.payload, Device.OTHER)  # by an initialiser that moves its own object
    place = Device.CPU if name == "to" and device_named(device) is Device.CPU else Device.OTHER
    return refine(module, device=place, confidence=Confidence.INFERRED)


def tell_tensor(at: Point, tensor: AbstractValue) -> None:
    """Contribute a tensor that becomes a parameter or a buffer."""
    cls = at.function.owner
    if cls is not None and cls.is_module and tensor.kind is Kind.TENSOR:
        _tell(at, cls, tensor.device)


def tell_modules(at: Point, cls: Class, value: AbstractValue) -> None:
    """Contribute the modules in a value that becomes an attribute of a module."""
    for part in value.options if cls.is_module else ():
        if is_module(part):
            _tell(at, cls, part.device)


def tell_held(at: Point, values: Iterable[AbstractValue]) -> None:
    """Contribute the modules that are put into a container of modules; the module that makes itself is taken to hold the container."""
    cls = at.function.owner
    if cls is not None:
        for part in [part for value in values for part in parts_of(value)]:
            tell_modules(at, cls, part)


def tell_base(at: Point, cls: Class, base: str, call: Call) -> None:
    """Contribute the parameters that the initialiser of a base class of torch makes, and the modules that it is given."""
    _tell(at, cls, new_layer(at, base, call).device)


def _tell(at: Point, cls: Class, place: Device) -> None:
    """Contribute a part that a module has once it is made; `OTHER` if it may be elsewhere than on the host."""
    if place in _APART or at.function.owner is not cls or not cls.makes(at.function.name):
        return
    place = Device.OTHER if at.context.moves_in_place(at.function) else place
    tell(at, at.context.known.registered[cls, ANY_NAME], _part(place))


def _part(place: Device) -> AbstractValue:
    there = Device.CPU if place is Device.CPU else Device.OTHER
    return AbstractValue(Kind.TENSOR, there, Confidence.INFERRED)


def _parts(values: Iterable[AbstractValue]) -> list[AbstractValue]:
    """Return the modules in some values as tensors that are where they are."""
    modules = [part for value in values for part in parts_of(value) if is_module(part)]
    return [AbstractValue(Kind.TENSOR, part.device, part.confidence, via=part.via) for part in modules]


def _makes_parameters(name: str, call: Call) -> bool:
    """Return whether the arguments of a layer leave its parameters to it, and name no device for them."""
    if call.site is not None and (call.site.spreads or call.site.names_device):
        return False
    is_short = len(call.args) <= _PLAIN_ARGUMENTS.get(name.rpartition(".")[2], len(call.args))
    return _KEYWORDS.isdisjoint(call.kwargs) and is_short


def _own_parts(at: Point, call: Call) -> list[AbstractValue]:
    """Return the parameters that a layer makes; they may be elsewhere if an argument, or the project, names a device."""
    if any(value is BOTTOM for value in call.args) and not at.stays_open():
        return []
    names_device = any(value.kind in {Kind.DEVICE, Kind.STRING} for value in call.args)
    return [_part(Device.OTHER if names_device or _has_default_device(at) else Device.CPU)]


# A norm with more positional arguments than these may have no parameters.
_PLAIN_ARGUMENTS = {"GroupNorm": 3, "LayerNorm": 2, "RMSNorm": 2}


def _has_default_device(at: Point) -> bool:
    """Return whether a default device other than the CPU is set here, or for constructors anywhere in the project."""
    here = at.default_device
    is_set = here is not None and here.kind is Kind.DEVICE and here.device is not Device.CPU
    return is_set or at.read(at.context.known.default_device).kind is Kind.DEVICE
