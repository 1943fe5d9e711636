"""Calls of torch: by the operation table, or by a stated default for unknown operations."""

from __future__ import annotations

from syncscan.check.infer.domain.basic import INT, NONE, NUMBER, SEQUENCES, STRING, is_batch, list_of
from syncscan.check.infer.domain.crossing import parts_on_gpu
from syncscan.check.infer.domain.lattice import as_tensor, join_all, with_items
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.distributions import (
    note_default_checks,
    on_tensors,
    sets_default_of_checks,
    settle_checks,
)
from syncscan.check.infer.transfer.groups import settle_group
from syncscan.check.infer.transfer.layouts import with_layout
from syncscan.check.infer.transfer.loaders import of_batch
from syncscan.check.infer.transfer.made_modules import new_layer, tell_held, tell_tensor
from syncscan.check.infer.transfer.modules import (
    LIST_TENSORS,
    MODULE_METHODS,
    given_by_part,
    holds_parameters,
    is_layer,
    is_optimizer,
    may_be_tensor,
    module_tensor,
    parameters_under,
    tensors_of_module,
    works_where_its_module_is,
)
from syncscan.check.infer.transfer.operands import tensor_in, tensors_alone_in, together
from syncscan.check.infer.transfer.packed import from_layer
from syncscan.check.infer.transfer.point import DEFAULT_DEVICE, Point
from syncscan.check.infer.transfer.registry import CALLABLES, DECLARED, FUNCTIONS, METHODS, PACKAGES, register
from syncscan.check.infer.transfer.results import dtype_named, placed, result_of
from syncscan.check.infer.transfer.subscripts import elements_of_index
from syncscan.check.infer.transfer.threads import FUTURE
from syncscan.model import ARRAYS, ON_GPU, Confidence, Device, Kind
from syncscan.ops import DEFAULT, Effect, follows_default
from syncscan.ops.inferred import device_named

# What modules, batches and tables of tensors have as well, and what gives another of the same.
_OF_MORE_THAN_TENSORS = MODULE_METHODS | frozenset(
    {"apply", "clone", "contiguous", "copy_", "detach", "double", "expand", "flatten", "gather", "index_select", "permute",
     "reshape", "share_memory_", "size", "split", "squeeze", "type", "unbind", "unsqueeze", "values", "view", "zero_grad"}
)  # fmt: skip


_OF_MODULES = {
    "Parameter": "a parameter is on the device of its module",
    "Buffer": "a buffer is on the device of its module",
}


@register(PACKAGES, "accelerate", "torch", "torchvision", DECLARED)
def _of_torch(at: Point, name: str, call: Call) -> AbstractValue:
    """Return the result of calling a torch function or class."""
    if name.startswith(("torch.cuda.", "torch.nn.")) and name.rpartition(".")[2][:1].isupper():
        told = _OF_MODULES.get(name.rpartition(".")[2])
        if told is not None:
            tell_tensor(at, call.first)
            return module_tensor(at, call.first, told)
        return new_layer(at, name, call)
    optimizer = AbstractValue(Kind.INSTANCE, payload=name)
    if is_optimizer(optimizer):
        return optimizer
    if sets_default_of_checks(name):
        note_default_checks(at, call.given(0, "value"))
    return _operation(at, name, call)


@register(METHODS, Kind.TENSOR)
def _of_tensor(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    call_on = call.on(base)
    if base.confidence is Confidence.ASSUMED and _is_of_another(at, name, call_on):
        return BOTTOM  # what the use of a value shows is no evidence against its arguments
    result = _operation(at, f"torch.Tensor.{name}", call_on)
    return _typed(base, call) if name == "type" else result


def _typed(tensor: AbstractValue, call: Call) -> AbstractValue:
    """Return ``tensor.type(dtype)``; without a dtype, its type name."""
    if not call.values:
        return STRING
    given = call.given(0, "dtype")
    is_dtype = given.kind is Kind.DTYPE or given.kind is Kind.UNKNOWN
    return refine(tensor, dtype=dtype_named(given)) if is_dtype else BOTTOM


def _operation(at: Point, name: str, call: Call) -> AbstractValue:
    at.note_asked(name, call)
    operation = at.context.table.find(name)
    if name.startswith("torch."):
        call = _on_tensors_moved(call)
    if operation is None:
        if not follows_default(name) or not any(map(may_be_tensor, call.values)):
            return BOTTOM
        operation = DEFAULT
    bound = call.bound(operation)
    if name in _OF_INDICES and "index" in bound.values:
        bound.values["index"] = elements_of_index(bound.values["index"][0])
    _settle_device(at, bound, call)
    _settle_data(at, name, bound)
    _settle_saved(name, bound)
    _settle_loaded(name, bound)
    if name.startswith("torch.distributed."):
        settle_group(at, bound)
    if at.default_device is not None and at.default_device.device is Device.CUDA:
        bound.values.setdefault("default device", (at.default_device,))
    checks = settle_checks(at, name, bound)
    bound = on_tensors(at, name, bound)
    result = call.first if _is_in_place(name, call) else with_layout(name, bound, result_of(bound, at))
    if checks:
        at.note_bound(name, call, _of_tensors(bound))
    return result


def _on_tensors_moved(call: Call) -> Call:
    """Return a call of torch with what was moved, or what a module returned, as tensors."""
    if not any(each.kind is Kind.MOVED for value in call.values for each in value.options):
        return call
    kwargs = {key: as_tensor(value) for key, value in call.kwargs.items()}
    return Call(tuple(map(as_tensor, call.args)), kwargs, call.site)


def _of_tensors(bound: Bound) -> Bound:
    """Return the call on the tensors among the options of its operands: an operation takes no list or object for one.

    For its input it takes no number either (measured on torch 2.13; arithmetic does, and blocks by other operands).
    """
    values = {name: tuple(map(tensor_in, bound.values[name])) for name in _OPERANDS if name in bound.values}
    values |= {
        name: tuple(map(tensors_alone_in, bound.values[name])) for name in _INPUTS if name in bound.values
    }
    if "data" in bound.values:
        values["data"] = tuple(map(_host_data_in, bound.values["data"]))
    return bound._replace(values=bound.values | values)


_INPUTS = ("input", "A", "L", "mat", "mat1")
_OPERANDS = ("other", "B", "mat2")


def _host_data_in(value: AbstractValue) -> AbstractValue:
    """Return the host data among the options of what a tensor is made of, which is why it is made, also in its items."""
    if value.kind is Kind.UNION:
        kept = [option for option in value.options if option.is_host_data]
        return join_all(kept) if kept else value
    if value.kind not in SEQUENCES:
        return value
    if value.items is not None:
        return with_items(value, [_in_a_tensor(item) for item in value.items])
    return value if value.element is None else refine(value, element=_in_a_tensor(value.element))


def _in_a_tensor(value: AbstractValue) -> AbstractValue:
    """Return an item without the texts, None and objects among its options, which no tensor holds."""
    if value.kind in SEQUENCES:
        return _host_data_in(value)
    kept = [option for option in value.options if option.kind in _OF_TENSORS]
    return join_all(kept) if value.kind is Kind.UNION and kept else value


_OF_TENSORS = ARRAYS | SEQUENCES | {Kind.NUMBER}


_OF_INDICES = frozenset({"torch.Tensor.__getitem__", "torch.Tensor.__setitem__"})


def _is_in_place(name: str, call: Call) -> bool:
    """Return whether a method such as ``t.zero_()`` returns ``t`` itself."""
    in_place = name.startswith("torch.Tensor.") and name.endswith("_") and not name.endswith("__")
    return in_place and bool(call.args)


def _settle_device(at: Point, bound: Bound, call: Call) -> None:
    """Replace a device that only the run decides by the GPU, the purpose of such code."""
    device = bound.get("device")
    if device is None or device.kind in {Kind.NONE, Kind.DTYPE, Kind.TENSOR}:
        return
    if device.kind is Kind.UNKNOWN and (call.site is None or not call.site.names_device):
        return
    place, confidence, via = placed(device, at)
    if place in ON_GPU:
        bound.values["device"] = (AbstractValue(Kind.DEVICE, place, confidence, via=via),)


def _settle_data(at: Point, name: str, bound: Bound) -> None:
    """Take unknown data of ``torch.tensor`` for host data, because code copies a tensor in other ways."""
    if name in _TAKE_HOST_DATA and bound.get("data") is BOTTOM and at.use():
        bound.values["data"] = (list_of(NUMBER),)


_TAKE_HOST_DATA = frozenset({"torch.tensor", "torch.Tensor.new_tensor"})


def _settle_saved(name: str, bound: Bound) -> None:
    """Replace a table that is saved by the list of its tensors on the GPU, at any depth: a file gets them one by one."""
    saved = bound.get("obj") if name == "torch.save" else None
    if saved is not None and saved.kind is Kind.DICT and (on_gpu := parts_on_gpu(saved)):
        bound.values["obj"] = (list_of(join_all(on_gpu)),)


def _settle_loaded(name: str, bound: Bound) -> None:
    """Leave open where the state is that a module on the host loads: the module may have moved since, and the state may be its own."""
    loaded = bound.get("self") if name == "torch.nn.Module.load_state_dict" else None
    if loaded is not None and loaded.device is Device.CPU:
        bound.values["state_dict"] = (BOTTOM,)


@register(METHODS, Kind.MOVED)
def _of_moved(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the result of a method of an unresolved transfer, usually the value itself."""
    if is_batch(base) and (result := of_batch(at, base, name, call)) is not None:
        return result
    if _is_of_tensors_alone(at, name):
        return at.call_method(as_tensor(base), name, call)
    if name in LIST_TENSORS:
        return tensors_of_module(at, name)
    if name == "cpu" and at.number in at.context.uses(at.state).tensors:
        return at.call_method(as_tensor(base), name, call)
    if name == "to" and call.given(0, "device").kind is Kind.DTYPE:
        return base
    moved = _moved_by(at, base, name, call)
    if moved is not None:
        return moved
    if name in {"forward", "generate"} or _is_of_distributions(at, name):
        return at.call(base, call)
    return BOTTOM if name in _LEAVE or name not in _OF_MORE_THAN_TENSORS else base


@register(METHODS, Kind.UNKNOWN)
def _of_unknown(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the result of a method of an unknown value, where its name is that of a module or tensor method."""
    if name in LIST_TENSORS and name != "state_dict":  # an optimizer has one as well, and a scheduler
        return tensors_of_module(at, name) if at.stays_open() else BOTTOM
    moved = _moved_by(at, base, name, call)
    if moved is not None:
        return moved
    if base is BOTTOM and _is_used_as_tensor(at, name, call) and at.stays_open():
        beside = refine(together(at, call.args), dtype=None, ndim=None, pinned=None)
        return at.call_method(beside, name, call)
    if base is BOTTOM and name in at.context.handing_on and as_tensor(call.first).is_gpu and at.stays_open():
        return at.call_outside(at.context.handing_on[name], call.on(base))
    return BOTTOM if name in _LEAVE or name not in _OF_MORE_THAN_TENSORS else base


_LEAVE = frozenset({"cpu", "to", "size", "values"})  # give what is not where it was, or no tensor


def _moved_by(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue | None:
    """Return the result of ``x.cuda()`` or ``x.to(device)`` for an unknown ``x``; None for other methods."""
    device = call.given(0, "device")
    if name == "cuda" or (name == "to" and _is_cuda(device)):
        if base is BOTTOM and not at.stays_open():
            return BOTTOM
        at.origin("{} places the tensor on the GPU", is_placing=True)
        return AbstractValue(
            Kind.MOVED, Device.CUDA, Confidence.INFERRED, via=device.via if name == "to" else None
        )
    if name == "to" and _is_decided_later(device, call) and not at.never_runs() and at.assume():
        at.origin(
            "{} places the tensor on a device chosen at run time, assumed to be the GPU", is_placing=True
        )
        return AbstractValue(Kind.MOVED, Device.CUDA, Confidence.INFERRED, via=device.via)
    return None


def _is_of_distributions(at: Point, name: str) -> bool:
    """Return whether a method belongs to distributions and returns tensors on their device."""
    return at.context.stub(f"torch.distributions.Distribution.{name}") is not None


def _is_decided_later(device: AbstractValue, call: Call) -> bool:
    """Return whether an argument is a device that the source leaves open."""
    if device.kind is Kind.DEVICE:
        return device.device in {Device.MIXED, Device.UNKNOWN}
    is_open = device.kind is Kind.UNKNOWN or (device.kind is Kind.STRING and device.payload is None)
    return is_open and call.site is not None and call.site.names_device


def _is_used_as_tensor(at: Point, name: str, call: Call) -> bool:
    """Return whether only a tensor has a method, and an argument is a GPU tensor, which implies that all operands are."""
    is_beside_one = any(map(_has_dimensions, call.args))
    return is_beside_one and _is_of_tensors_alone(at, name) and not _is_of_another(at, name, call.on(BOTTOM))


def _is_of_another(at: Point, name: str, call: Call) -> bool:
    """Return whether a call passes tensors only where a tensor's method takes numbers: ``tiler.tile(images)``."""
    operation = at.context.table.find(f"torch.Tensor.{name}")
    if operation is None or not any(map(_has_dimensions, call.values[1:])):
        return False
    bound = call.bound(operation)
    numbers = {term.arg for case in operation.blocks if case.effect is Effect.SCALAR for term in case.when}
    elsewhere = bound.values.keys() - {*operation.args[:1], *numbers}
    return not any(_has_dimensions(value) for arg in elsewhere for value in bound.values[arg])


def _has_dimensions(value: AbstractValue) -> bool:
    """Return whether a value is a GPU tensor that may have dimensions."""
    return value.kind is Kind.TENSOR and value.is_gpu and value.ndim != 0


@register(CALLABLES, Kind.MOVED)
def _call_moved(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    """Return the output of an unresolved transfer that is called: a module, whose output is on its device."""
    at.origin("a module on the GPU returns tensors on the GPU")
    return AbstractValue(Kind.MOVED, callee.device, Confidence.INFERRED, via=callee.via)


def _is_of_tensors_alone(at: Point, name: str) -> bool:
    """Return whether only tensors have a method of this name."""
    if name in _OF_MORE_THAN_TENSORS or name == "put":  # which queues and clients of stores have
        return False
    return any(at.context.table.find(f"{owner}.{name}") is not None for owner in ("torch.Tensor", "torch"))


def _is_cuda(device: AbstractValue) -> bool:
    return device.kind in {Kind.STRING, Kind.DEVICE} and device_named(device) is Device.CUDA


def torch_object(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the result of a method of a torch object: a stream, an event, an optimizer, a layer."""
    if is_layer(base):
        return _of_layer(at, base, "forward" if name == "__call__" else name, call)
    full = f"{base.payload}.{name}"
    if base.payload == FUTURE and name == "result":
        return join_all(base.items or ())
    if full in FUNCTIONS:
        return at.call_outside(full, call)
    if at.context.stub(full) is not None:
        return at.call_outside(full, call.on(base))
    result = _by_table(at, full, call.on(base))
    if name == "step" and is_optimizer(base):
        closure = call.given(0, "closure")
        return at.call(closure, Call((), {}, call.site)) if closure is not BOTTOM else NONE
    if name == "state_dict" and is_optimizer(base):
        return tensors_of_module(at, name)  # the moments of its parameters
    return result


def _by_table(at: Point, name: str, call: Call) -> AbstractValue:
    at.note_asked(name, call)
    return _operation(at, name, call) if at.context.table.find(name) is not None else BOTTOM


def _of_layer(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    moves = name in _MOVES or name == "to"
    owner = "torch.nn.Module" if name in _OF_EACH_MODULE else base.payload
    result = _by_table(at, f"{owner}.{name}", call.on(base))
    if name in _FILLS:
        tell_held(at, call.args)
    if name == "forward":
        return from_layer(at, base, call.first, _given_by(at, base, together(at, map(as_tensor, call.args))))
    if moves or name in _STAYS:
        return _moved_layer(at, base, name, call)
    if name in LIST_TENSORS and (base.device in ON_GPU or works_where_its_module_is(at.function)):
        return tensors_of_module(at, name)
    if base.payload == "torch.nn.ModuleDict" and name not in MODULE_METHODS:
        return given_by_part(at, call)
    return parameters_under(at, base, name) if holds_parameters(base) and result is BOTTOM else result


def _given_by(at: Point, layer: AbstractValue, result: AbstractValue) -> AbstractValue:
    """Return the output of a layer on the device of its weights; in a method of a module, on the device of the module."""
    if result.device is not Device.UNKNOWN:
        return result
    if layer.device not in ON_GPU:
        if not works_where_its_module_is(at.function) or not at.assume():
            return result
        at.origin("a layer returns tensors on the device of its module")
        return refine(result, device=Device.CUDA, confidence=Confidence.INFERRED)
    return refine(result, device=layer.device, confidence=layer.confidence, via=layer.via)


def _moved_layer(at: Point, layer: AbstractValue, name: str, call: Call) -> AbstractValue:
    device = AbstractValue(Kind.DEVICE, _MOVES[name]) if name in _MOVES else call.given(0, "device")
    if device.kind not in {Kind.STRING, Kind.DEVICE} or name not in {*_MOVES, "to"}:
        return layer
    place, confidence, via = placed(device, at)
    if place not in ON_GPU:
        return refine(layer, device=Device.UNKNOWN, via=None)
    return refine(layer, device=place, confidence=min(confidence, Confidence.INFERRED), via=via)


_FILLS = frozenset({"add_module", "append", "extend", "insert", "register_module", "update"})
_OF_EACH_MODULE = {"cuda", "load_state_dict", "to"}
_MOVES = {"cuda": Device.CUDA, "cpu": Device.CPU}
_STAYS = {"eval", "train", "half", "float"}


@register(FUNCTIONS, "torch.get_device_module")
def _module_of_device(at: Point, call: Call) -> AbstractValue:
    is_other = device_named(call.given(0, "device")) not in {Device.CUDA, Device.UNKNOWN}
    return BOTTOM if is_other else AbstractValue(Kind.MODULE, payload="torch.cuda")


@register(FUNCTIONS, "torch.device")
def _device(at: Point, call: Call) -> AbstractValue:
    return join_all([_device_of(at, option) for option in call.given(0, "type").options])


def _device_of(at: Point, given: AbstractValue) -> AbstractValue:
    """Return the device that one option of an argument names; MIXED where only the run decides."""
    device = device_named(given)
    if device is Device.UNKNOWN and at.assume():
        device = Device.MIXED  # the run decides
    if device is Device.CUDA:
        at.origin("this line names the device")
    return AbstractValue(Kind.DEVICE, device, given.confidence, via=given.via if device in ON_GPU else None)


@register(FUNCTIONS, "torch.get_default_dtype", "torch.promote_types", "torch.result_type")
def _dtype(at: Point, call: Call) -> AbstractValue:
    return AbstractValue(Kind.DTYPE)


@register(FUNCTIONS, "torch.Size", "torch.broadcast_shapes")
def _size(at: Point, call: Call) -> AbstractValue:
    return list_of(INT, Kind.TUPLE)


@register(
    FUNCTIONS,
    "torch.cuda.current_device",
    "torch.accelerator.current_accelerator",
    "torch.accelerator.current_device_idx",
    "torch.accelerator.current_device_index",
)
def _current_device(at: Point, call: Call) -> AbstractValue:
    at.origin("the call uses the current CUDA device")
    return AbstractValue(Kind.DEVICE, Device.CUDA)


def note_default_device(at: Point, device: AbstractValue) -> None:
    """Record a default device for the modules that this call creates."""
    if device.device not in {Device.CPU, Device.OTHER} and not at.module.is_outside:
        at.tell(at.context.known.default_device, AbstractValue(Kind.DEVICE, confidence=Confidence.INFERRED))


def default_device_of(given: AbstractValue) -> AbstractValue:
    """Return the default device after ``torch.set_default_device(given)``."""
    if given.kind is Kind.UNION:
        return join_all([default_device_of(option) for option in given.items or ()])
    place = device_named(given) if given.kind in _NAMES_OF_DEVICES else Device.UNKNOWN
    if given.kind is Kind.NUMBER and place is not Device.CUDA:  # it may be no index
        place = Device.UNKNOWN
    return AbstractValue(
        Kind.DEVICE,
        place,
        min(given.confidence, Confidence.INFERRED),
        via=given.via if place in ON_GPU else None,
    )


_NAMES_OF_DEVICES = frozenset({Kind.STRING, Kind.DEVICE, Kind.NUMBER})


@register(FUNCTIONS, "torch.set_default_device")
def _default_device(at: Point, call: Call) -> AbstractValue:
    device = default_device_of(call.first)
    at.origin("{} sets the default device")
    note_default_device(at, device)
    if at.function is at.module.body:
        at.tell(at.context.known.globals[at.module, DEFAULT_DEVICE], refine(device, via=None))
    return BOTTOM


@register(FUNCTIONS, "torch.get_default_device")
def _some_device(at: Point, call: Call) -> AbstractValue:
    return AbstractValue(Kind.DEVICE)


@register(
    FUNCTIONS,
    "torch._dynamo.allow_in_graph",
    "torch._dynamo.disable",
    "torch.compile",
    "torch.compiler.allow_in_graph",
    "torch.compiler.disable",
    "torch.jit.ignore",
    "torch.jit.script",
    "torch.jit.unused",
    "torch.nn.utils.parametrizations.orthogonal",
    "torch.nn.utils.parametrizations.spectral_norm",
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.remove_spectral_norm",
    "torch.nn.utils.remove_weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.weight_norm",
)
def _same(at: Point, call: Call) -> AbstractValue:
    """Return the module or function that is given, which torch changes or wraps."""
    return call.first
