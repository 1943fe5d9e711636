"""Calls of torch: what the operation table knows of them, else its stated default."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import DEFAULT_DEVICE, Frame
from syncscan.check.infer.evaluate.registry import CALLABLES, DECLARED, FUNCTIONS, METHODS, PACKAGES, register
from syncscan.check.infer.evaluate.storing import mutate
from syncscan.check.infer.evaluators.groups import settle_group
from syncscan.check.infer.evaluators.modules import MODULE_METHODS, may_be_tensor, module_tensor
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.infer.table.conditions import Bound
from syncscan.check.infer.table.results import placed, result_of, together
from syncscan.check.infer.values.basic import refine
from syncscan.check.infer.values.lattice import as_tensor
from syncscan.model import ON_GPU, UNKNOWN, Confidence, Device, Kind, Value
from syncscan.ops import DEFAULT, follows_default
from syncscan.ops.inferred import device_named

# What modules, batches and tables of tensors have as well, and what gives another of the same.
_OF_MORE_THAN_TENSORS = MODULE_METHODS | frozenset(
    {"apply", "clone", "contiguous", "copy_", "detach", "double", "expand", "flatten", "gather", "index_select", "permute",
     "reshape", "share_memory_", "size", "split", "squeeze", "type", "unbind", "unsqueeze", "values", "view", "zero_grad"}
)  # fmt: skip
_A_DEVICE = re.compile(r".*device.*|_?dev|_?(local_)?rank|_?(gpu|cuda)(_?id)?")
_RESIZE = frozenset({"torch.Tensor.resize_", "torch.Tensor.resize_as_", "torch.Tensor.set_"})


@register(PACKAGES, "accelerate", "torch", "torchvision", DECLARED)
def _of_torch(frame: Frame, name: str, call: Call) -> Value:
    """Call a function or a class of torch."""
    if name.startswith(("torch.cuda.", "torch.nn.")) and name.rpartition(".")[2][:1].isupper():
        if name.endswith(".Parameter"):
            return module_tensor(frame, call.first, call.node, "a parameter moves with its module")
        inside = next((v for v in call.args if v.kind is Kind.INSTANCE and v.device in ON_GPU), UNKNOWN)
        return replace(inside, kind=Kind.INSTANCE, payload=name)  # a layer around others is where they are
    return _operation(frame, name, call)


@register(METHODS, Kind.TENSOR)
def _of_tensor(frame: Frame, base: Value, name: str, call: Call) -> Value:
    return _operation(frame, f"torch.Tensor.{name}", call.on(base))


def _operation(frame: Frame, name: str, call: Call) -> Value:
    frame.note_asked(name, call)
    operation = frame.context.table.find(name)
    if name.startswith("torch.") and any(value.kind is Kind.MOVED for value in call.values):
        kwargs = {key: as_tensor(value) for key, value in call.kwargs.items()}
        call = Call(tuple(map(as_tensor, call.args)), kwargs, call.node)
    if operation is None:
        if not follows_default(name) or not any(map(may_be_tensor, call.values)):
            return UNKNOWN
        operation = DEFAULT
    bound = call.bound(operation)
    _settle_device(frame, bound, call.node)
    if name.startswith("torch.distributed."):
        settle_group(frame, bound)
    if frame.default_device is not None and frame.default_device.device is Device.CUDA:
        bound.values.setdefault("default device", (frame.default_device,))
    result = call.first if _is_in_place(name, call) else result_of(bound, frame.here(call.node))
    frame.note_bound(name, call, bound)
    _note_resized(frame, name, call)
    return result


def _note_resized(frame: Frame, name: str, call: Call) -> None:
    """Note that a tensor which was seen to have no elements has some: it is resized, or a result is written to it."""
    if not isinstance(call.node, ast.Call):
        return
    resized = [keyword.value for keyword in call.node.keywords if keyword.arg == "out"]
    if name in _RESIZE and isinstance(call.node.func, ast.Attribute):
        resized.append(call.node.func.value)
    for node in resized:
        value = frame.peek(node)
        if value.kind is Kind.TENSOR and value.count is not None:
            mutate(frame, node, refine(value, count=None))


def _is_in_place(name: str, call: Call) -> bool:
    """``t.zero_()`` returns ``t`` itself: where it was, pinned if it was."""
    in_place = name.startswith("torch.Tensor.") and name.endswith("_") and not name.endswith("__")
    return in_place and bool(call.args)


def _settle_device(frame: Frame, bound: Bound, node: ast.expr) -> None:
    """Take a device that only the run decides for the GPU: that is what such code is written for."""
    device = bound.get("device")
    if device is None or device.kind in {Kind.NONE, Kind.DTYPE, Kind.TENSOR} or not frame.assume():
        return
    if device.kind is Kind.UNKNOWN and not _names_a_device(node):
        return
    place, confidence, evidence = placed(device, frame.here(node))
    if place is Device.CUDA:
        bound.values["device"] = (Value(Kind.DEVICE, place, confidence, evidence=evidence),)


def _names_a_device(node: ast.expr) -> bool:
    """Whether an unknown argument is a device by the look of it: ``.to(x)`` takes a dtype as well."""
    if not isinstance(node, ast.Call):
        return False
    if any(keyword.arg == "device" for keyword in node.keywords):
        return True
    return any(_A_DEVICE.fullmatch(last_name(arg)) is not None for arg in node.args)


@register(METHODS, Kind.UNKNOWN, Kind.MOVED)
def _of_unknown(frame: Frame, base: Value, name: str, call: Call) -> Value:
    """What ``x.cuda()`` and ``x.to(device)`` make of an unknown ``x``; what was moved stays so under most methods."""
    if base.kind is Kind.MOVED and _is_of_tensors_alone(frame, name):
        return frame.call_method(as_tensor(base), name, call)
    device = call.given(0, "device")
    if name == "cuda" or (name == "to" and _is_cuda(device)):
        evidence = frame.evidence(call.node, f"`{frame.here(call.node).text}` puts it there", device.evidence)
        return Value(Kind.MOVED, Device.CUDA, Confidence.INFERRED, evidence=evidence)
    if base.kind is Kind.MOVED and name in {"forward", "generate"}:
        return frame.call(base, call)
    if name in {"cpu", "to", "size", "values"} or name not in _OF_MORE_THAN_TENSORS:
        return UNKNOWN
    return base


@register(CALLABLES, Kind.MOVED)
def _call_moved(frame: Frame, callee: Value, call: Call) -> Value:
    """What was moved and is called is a module, and what it gives is where it is: a tensor, or an object of them."""
    evidence = frame.evidence(
        call.node, "a module that was moved to the GPU gives what is there", callee.evidence
    )
    return Value(Kind.MOVED, callee.device, Confidence.INFERRED, evidence=evidence)


def _is_of_tensors_alone(frame: Frame, name: str) -> bool:
    """Whether what has a method of this name is a tensor."""
    if name in _OF_MORE_THAN_TENSORS:
        return False
    return any(f"{owner}.{name}" in frame.context.table.operations for owner in ("torch.Tensor", "torch"))


def _is_cuda(device: Value) -> bool:
    return device.kind in {Kind.STRING, Kind.DEVICE} and device_named(device) is Device.CUDA


def torch_object(frame: Frame, base: Value, name: str, call: Call) -> Value:
    """Call a method of an object of torch: a stream, an event, a layer."""
    full = f"{base.payload}.{name}"
    frame.note_asked(full, call)
    if frame.context.table.find(full) is not None:
        return _operation(frame, full, call.on(base))
    if str(base.payload).startswith("torch.nn."):
        if name in {"__call__", "forward"}:
            return _given_by(base, together(map(as_tensor, call.args)))
        if name in {"to", "cuda", "cpu", "eval", "train", "half", "float"}:
            return _moved_layer(frame, base, name, call)
    return UNKNOWN


def _given_by(layer: Value, result: Value) -> Value:
    """What a layer gives is where its weights are, as its arguments have to be."""
    if result.device is not Device.UNKNOWN or layer.device not in ON_GPU:
        return result
    return refine(result, device=layer.device, confidence=layer.confidence, evidence=layer.evidence)


def _moved_layer(frame: Frame, layer: Value, name: str, call: Call) -> Value:
    device = Value(Kind.DEVICE, _MOVES[name]) if name in _MOVES else call.given(0, "device")
    if device.kind not in {Kind.STRING, Kind.DEVICE} or name not in {*_MOVES, "to"}:
        return layer
    place, confidence, _ = placed(device, frame.here(call.node))
    if place not in ON_GPU:
        return replace(layer, device=Device.UNKNOWN, evidence=None)
    evidence = frame.evidence(call.node, f"`{frame.here(call.node).text}` puts it there", device.evidence)
    sure = min(confidence, Confidence.INFERRED)
    return replace(layer, device=place, confidence=sure, evidence=evidence)


_MOVES = {"cuda": Device.CUDA, "cpu": Device.CPU}


@register(FUNCTIONS, "torch.device")
def _device(frame: Frame, call: Call) -> Value:
    given = call.given(0, "type")
    if given.kind is Kind.UNION:
        return Value(Kind.DEVICE, Device.MIXED)
    device = device_named(given)
    if device is Device.UNKNOWN and frame.assume():
        device = Device.MIXED  # the run decides
    evidence = frame.evidence(call.node, "the device is named here") if device is Device.CUDA else None
    return Value(Kind.DEVICE, device, given.confidence, evidence=evidence)


@register(FUNCTIONS, "torch.get_default_dtype", "torch.promote_types", "torch.result_type")
def _dtype(frame: Frame, call: Call) -> Value:
    return Value(Kind.DTYPE)


@register(FUNCTIONS, "torch.cuda.current_device")
def _current_device(frame: Frame, call: Call) -> Value:
    return Value(Kind.DEVICE, Device.CUDA, evidence=frame.evidence(call.node, "the current CUDA device"))


def set_default_device(frame: Frame, device: Value) -> None:
    """Put what is made from here on on a device: here, and in the modules that are made by what is called here."""
    frame.default_device = device
    if device.device not in {Device.CPU, Device.OTHER} and not frame.module.is_outside:
        frame.tell(frame.context.known.default_device, Value(Kind.DEVICE, confidence=Confidence.INFERRED))


@register(FUNCTIONS, "torch.set_default_device")
def _default_device(frame: Frame, call: Call) -> Value:
    given = call.first
    place = device_named(given)
    evidence = frame.evidence(call.node, f"`{frame.here(call.node).text}` places what names no device")
    device = Value(Kind.DEVICE, place, min(given.confidence, Confidence.INFERRED), evidence=evidence)
    set_default_device(frame, device)
    if frame.function is frame.module.body:
        frame.tell(frame.context.known.globals[frame.module, DEFAULT_DEVICE], device)
    return UNKNOWN


@register(FUNCTIONS, "torch.get_default_device")
def _some_device(frame: Frame, call: Call) -> Value:
    return Value(Kind.DEVICE)


@register(FUNCTIONS, "torch.compile")
def _compiled(frame: Frame, call: Call) -> Value:
    return call.first
