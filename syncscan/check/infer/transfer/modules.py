"""Members that classes inherit from ``nn.Module``: parameters and buffers are on the device of their module, the GPU."""

from __future__ import annotations

import re

from syncscan.check.infer.dataflow.cells import ANY_TEXT
from syncscan.check.infer.domain.basic import (
    STRING,
    TENSOR,
    is_batch,
    is_module,
    list_of,
    sequence,
    table,
)
from syncscan.check.infer.domain.lattice import REST, join_all, via_of
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.made_modules import moved_module, tell_modules, tell_tensor
from syncscan.check.infer.transfer.operands import together
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import names_of, store_attribute, store_attributes, tell
from syncscan.model import ON_GPU, Confidence, Device, Kind

MODULE_METHODS = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "parameters", "buffers",
     "named_parameters", "named_buffers", "register_buffer", "register_parameter", "add_module", "register_module",
     "state_dict", "get_buffer", "get_parameter", "modules", "children", "__call__", "__setattr__", "_apply", "apply", "requires_grad_"}
)  # fmt: skip
_RETURN_THE_MODULE = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "_apply", "apply", "requires_grad_"}
)


def works_where_its_module_is(function: Function) -> bool:
    """Return whether a method runs when its module is on the GPU: a method of a module that does not initialise the instance.

    Methods of custom autograd operations, which modules call, count as well, and so do functions within methods.
    """
    while function.owner is None and function.parent is not None:
        function = function.parent
    owner = function.owner
    if owner is not None and owner.is_differentiable:
        return True
    return owner is not None and owner.is_module and not owner.makes(function.name)


def before_a_move(at: Point, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
    """Return a tensor of a module for code that makes modules: their parts are not on the GPU yet unless they are made there."""
    if value.kind is not Kind.TENSOR or not cls.is_module or not makes_a_module(at):
        return value
    made = join_all([at.read(at.context.known.registered[base, name]) for base in cls.mro()])
    return made if made.kind is Kind.TENSOR else refine(value, device=Device.UNKNOWN, pinned=None, via=None)


def is_layer(value: AbstractValue) -> bool:
    """Return whether a value is a module of a class of torch."""
    return is_module(value) and isinstance(value.payload, str)


def weight_of_layer(at: Point, layer: AbstractValue) -> AbstractValue:
    """Return a parameter or buffer of a layer of torch, which in a method of a module is where that module is."""
    if layer.device in ON_GPU:
        return refine(TENSOR, device=layer.device, confidence=layer.confidence, via=layer.via)
    return some_parameter(at) if works_where_its_module_is(at.function) else TENSOR


def makes_a_module(at: Point) -> bool:
    """Return whether the function at hand makes a module, and nothing in the project makes modules on the GPU."""
    owner = at.function.owner
    is_making = owner is not None and owner.is_module and owner.makes(at.function.name)
    return is_making and at.read(at.context.known.default_device).kind is not Kind.DEVICE


def module_method(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the result of a method that a class of the project inherits from ``nn.Module``."""
    if name in _REGISTER:
        register_tensor(at, base, name, call)
        return BOTTOM
    if name in _ADD and isinstance(base.payload, Class) and len(call.args) == 2:
        store_attributes(at, base.payload, names_of(at, call, 0), call.args[1])
        tell_modules(at, base.payload, call.args[1])
        return BOTTOM
    if name in LIST_TENSORS:
        return tensors_of_module(at, name)
    if name in {"get_buffer", "get_parameter"}:
        return some_parameter(at)
    if name == "__call__":
        return together(at, call.args) if any(map(may_be_tensor, call.args)) else BOTTOM
    if name == "cpu":
        return refine(base, device=Device.CPU, confidence=Confidence.INFERRED)
    if name in {"to", "cuda"}:
        return moved_module(at, base, name, call)
    return base if name in _RETURN_THE_MODULE else BOTTOM


_REGISTER = {"register_buffer": "buffer", "register_parameter": "parameter"}
_ADD = frozenset({"__setattr__", "add_module", "register_module"})


def register_tensor(at: Point, base: AbstractValue, method: str, call: Call) -> None:
    """Store the tensor of ``register_buffer`` or ``register_parameter``, of torch or of a class that overrides them."""
    sort = _REGISTER.get(method)
    if sort is None or not isinstance(base.payload, Class):
        return
    name = call.given(0, "name").payload
    names = {name} if isinstance(name, str) else names_of(at, call, 0) - {ANY_TEXT} if call.args else ()
    by_keyword = [value for key, value in call.kwargs.items() if key not in {"name", "persistent"}]
    given = next(iter([*call.args[1:2], *by_keyword]), BOTTOM)
    tell_tensor(at, given)
    for each in sorted(names):
        tell(at, at.context.known.registered[base.payload, each], given)
        value = module_tensor(at, given, f"{sort} `{each}` moves with its module")
        store_attribute(at, base.payload, each, value)


LIST_TENSORS = frozenset({"parameters", "buffers", "named_parameters", "named_buffers", "state_dict"})


def tensors_of_module(at: Point, name: str) -> AbstractValue:
    """Return the tensors that ``module.parameters()`` and similar methods return: a list, or the table of ``state_dict``."""
    tensor = some_parameter(at)
    if name == "state_dict":
        return list_of(tensor, Kind.DICT)
    return list_of(sequence([STRING, tensor], Kind.TUPLE) if name.startswith("named") else tensor)


def some_parameter(at: Point) -> AbstractValue:
    """Return a parameter of an unknown module."""
    return module_tensor(at, TENSOR, "the parameters of a module move to the GPU with the module")


def holds_parameters(value: AbstractValue) -> bool:
    """Return whether a value is a list or dictionary of parameters, which is a module that has them."""
    return is_layer(value) and value.payload in {"torch.nn.ParameterDict", "torch.nn.ParameterList"}


def parameters_under(at: Point, container: AbstractValue, method: str) -> AbstractValue:
    """Return the parameters in a list or dictionary of them as a method gives them: ``values()``, ``items()``, ``get(name)``."""
    parameter = weight_of_layer(at, container)
    if method == "values":
        return list_of(parameter)
    if method == "items":
        return list_of(sequence([STRING, parameter], Kind.TUPLE))
    return parameter if method in {"get", "pop", "setdefault"} else BOTTOM


def own_tensors(at: Point) -> AbstractValue:
    """Return ``module._parameters`` or ``module._buffers``."""
    return list_of(TENSOR if makes_a_module(at) else some_parameter(at), Kind.DICT)


def is_optimizer(value: AbstractValue) -> bool:
    """Return whether a value is an optimizer of torch."""
    return (
        value.kind is Kind.INSTANCE
        and isinstance(value.payload, str)
        and _OPTIMIZER.fullmatch(value.payload) is not None
    )


_OPTIMIZER = re.compile(r"torch\.optim\.[A-Z]\w*")


def groups_of_parameters(at: Point) -> AbstractValue:
    """Return the ``param_groups`` of an optimizer."""
    return list_of(table({"params": list_of(some_parameter(at)), REST: BOTTOM}))


def given_by_part(at: Point, call: Call) -> AbstractValue:
    """Return the output of an unknown submodule, which is on the device of its inputs."""
    on_gpu = [
        value for value in call.args if value.is_gpu or (value.kind is Kind.MOVED and not is_batch(value))
    ]
    if not on_gpu or not at.assume():
        return BOTTOM
    at.origin("a submodule returns tensors on the device of its module")
    return AbstractValue(Kind.MOVED, Device.CUDA, Confidence.INFERRED, via=via_of(on_gpu))


def module_tensor(at: Point, value: AbstractValue, text: str) -> AbstractValue:
    """Return a parameter or buffer, which is transferred to the GPU with its module."""
    if value.kind is not Kind.TENSOR or value.device is Device.CUDA:
        return value
    if value.device is Device.MIXED:
        return refine(value, device=Device.CUDA, pinned=None)
    if not at.assume():
        return refine(value, device=Device.UNKNOWN, pinned=None)
    at.origin(text)
    return refine(value, device=Device.CUDA, confidence=Confidence.INFERRED, pinned=None)


def may_be_tensor(value: AbstractValue) -> bool:
    """Return whether a value is a tensor or holds one."""
    if value.kind in {Kind.LIST, Kind.TUPLE, Kind.UNION}:
        inside = [*(value.items or ()), *([value.element] if value.element else [])]
        return any(map(may_be_tensor, inside))
    return value.kind is Kind.TENSOR
