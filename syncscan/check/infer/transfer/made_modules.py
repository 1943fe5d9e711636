"""Modules as they are made: their parameters and buffers are on the host until the module moves.

An object of a module's class is on the host while the function at hand holds it; other functions may see it after a move.
"""

from __future__ import annotations

from collections.abc import Iterable

from syncscan.check.infer.domain.basic import is_module
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import AbstractValue, refine
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import ANY_NAME, tell
from syncscan.model import Confidence, Device, Kind

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
    """Return a new layer of torch: where the layers around which it is are, and on the host if it has parameters."""
    parts = _parts(call.values)
    if name in WITH_PARAMETERS and _makes_parameters(call):
        parts.append(_on_host(at))
    there = join_all(parts)
    return AbstractValue(Kind.INSTANCE, there.device, there.confidence, payload=name, via=there.via)


def new_module(at: Point, value: AbstractValue, call: Call) -> AbstractValue:
    """Return a new object of a class of the project; a module is on the host if it makes, or is given, parts there."""
    cls: Class = value.payload
    if not cls.is_module:
        return value
    made = [at.read(at.context.known.registered[base, ANY_NAME]) for base in cls.mro()]
    given = [_part(part.device) for part in _parts(call.values) if part.device not in _APART]
    there = join_all([*made, *given])
    return refine(value, device=there.device, confidence=there.confidence)


def moved_module(at: Point, module: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return a module of the project after ``to`` or ``cuda``."""
    at.call_outside(f"torch.nn.Module.{name}", call.on(module))
    if call.given(0, "device").kind is Kind.DTYPE:
        return module
    _tell(at, module.payload, Device.OTHER)  # by an initialiser that moves its own object
    return refine(module, device=Device.UNKNOWN, confidence=Confidence.PROVED)


def tell_tensor(at: Point, tensor: AbstractValue) -> None:
    """Contribute a tensor that becomes a parameter or a buffer."""
    cls = at.function.owner
    if cls is not None and cls.is_module and tensor.kind is Kind.TENSOR:
        _tell(at, cls, tensor.device)


def tell_modules(at: Point, cls: Class, value: AbstractValue) -> None:
    """Contribute the modules in a value that becomes an attribute of a module."""
    for part in _parts([value]) if cls.is_module else ():
        _tell(at, cls, part.device)


def tell_base(at: Point, cls: Class, base: str, call: Call) -> None:
    """Contribute the parameters that the initialiser of a base class of torch makes, and the modules that it is given."""
    _tell(at, cls, new_layer(at, base, call).device)


def _tell(at: Point, cls: Class, place: Device) -> None:
    """Contribute a part that a module has once it is made; `OTHER` if it may be elsewhere than on the host."""
    if place in _APART or at.function.owner is not cls or not cls.makes(at.function.name):
        return
    tell(at, at.context.known.registered[cls, ANY_NAME], _part(place))


def _part(place: Device) -> AbstractValue:
    there = Device.CPU if place is Device.CPU else Device.OTHER
    return AbstractValue(Kind.TENSOR, there, Confidence.INFERRED)


def _parts(values: Iterable[AbstractValue]) -> list[AbstractValue]:
    """Return the modules in some values as tensors that are where they are."""
    modules = [part for value in values for part in parts_of(value) if is_module(part)]
    return [AbstractValue(Kind.TENSOR, part.device, part.confidence, via=part.via) for part in modules]


def _makes_parameters(call: Call) -> bool:
    """Return whether the arguments of a layer leave its parameters to it, and name no device for them."""
    return _KEYWORDS.isdisjoint(call.kwargs) and not (call.site is not None and call.site.spreads)


def _on_host(at: Point) -> AbstractValue:
    """Return a tensor on the host; it may be elsewhere if the project sets a default device."""
    has_default = at.read(at.context.known.default_device).kind is Kind.DEVICE
    return AbstractValue(Kind.TENSOR, Device.OTHER if has_default else Device.CPU, Confidence.INFERRED)
