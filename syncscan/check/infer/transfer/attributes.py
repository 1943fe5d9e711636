"""Attribute reads: ``base.name`` for an object, a class, a module, a tensor."""

from __future__ import annotations

import ast

from syncscan.check.infer.domain.basic import BOOL, INT, STRING, constant, list_of, partial_of
from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.crossing import copied, parts_of
from syncscan.check.infer.domain.lattice import join, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, fact, refine
from syncscan.check.infer.source.conventions import is_tensor_of_models
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.syntax import walk
from syncscan.check.infer.transfer.autograd import applied
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.declared import annotated, as_annotated
from syncscan.check.infer.transfer.functions import call_overrides
from syncscan.check.infer.transfer.guesses import assumed_tensor
from syncscan.check.infer.transfer.modules import (
    before_a_move,
    groups_of_parameters,
    is_layer,
    is_optimizer,
    makes_a_module,
    own_tensors,
    weight_of_layer,
)
from syncscan.check.infer.transfer.names import external, module_name
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import ATTRIBUTES, register
from syncscan.check.infer.transfer.storing import ANY_NAME
from syncscan.check.infer.transfer.subscripts import read_item
from syncscan.model import Confidence, Device, Kind

_SAME_PLACE = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
_NUMBERS = frozenset(
    {"ndim", "itemsize", "nbytes", "is_cuda", "is_cpu", "requires_grad", "is_leaf", "is_sparse"}
)
_DTYPE = AbstractValue(Kind.DTYPE)
_SHAPE = list_of(INT, Kind.TUPLE)


@register(ATTRIBUTES, Kind.UNION)
def _of_any(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    return join_all([at.attribute(option, name) for option in base.options])


@register(ATTRIBUTES, Kind.TENSOR, Kind.NDARRAY)
def _of_array(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    if name == "device":
        # what is placed with some variable device is inferred, however little is known of that tensor
        return AbstractValue(
            Kind.DEVICE, base.device, max(base.confidence, Confidence.INFERRED), via=base.via
        )
    if name == "dtype":
        return refine(_DTYPE, dtype=fact(base, "dtype"))
    if name == "shape":
        return _SHAPE
    if name in _SAME_PLACE:
        return base
    if name in _NUMBERS:
        return BOOL if name.startswith(("is_", "requires")) else INT
    return BOTTOM


@register(ATTRIBUTES, Kind.UNKNOWN)
def _of_unknown(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return the ``param_groups`` of an optimizer, a name that only optimizers use."""
    return groups_of_parameters(at) if name == "param_groups" and at.stays_open() else BOTTOM


# The names that torch gives to what an operation returns, by their places.
_NAMED_RESULTS = {
    **dict.fromkeys(("values", "eigenvalues", "U", "Q", "LU", "L", "sign", "solution", "P"), 0),
    **dict.fromkeys(("indices", "eigenvectors", "S", "R", "pivots", "info", "logabsdet"), 1),
    "Vh": 2,
    **{
        name: place
        for place, name in enumerate(("data", "batch_sizes", "sorted_indices", "unsorted_indices"))
    },
}


@register(ATTRIBUTES, Kind.DICT)
def _of_table(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return the ``get`` of a dictionary as a function: ``max(norms, key=norms.get)``."""
    return partial_of(external("builtins.dict.get"), [base], {}) if name == "get" else BOTTOM


@register(ATTRIBUTES, Kind.TUPLE)
def _of_results(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return one of several results of a torch operation by its name: ``topk(x, 3).values``."""
    place, items = _NAMED_RESULTS.get(name), base.items or ()
    return items[place] if place is not None and place < len(items) else BOTTOM


@register(ATTRIBUTES, Kind.MOVED)
def _of_moved(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return an attribute of an unresolved transfer: the device, a tensor if models use the name for one, else unknown."""
    if name == "device":
        return AbstractValue(Kind.DEVICE, base.device, base.confidence, via=base.via)
    return base if is_tensor_of_models(name) else BOTTOM


@register(ATTRIBUTES, Kind.STRING)
def _of_text(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return the ``value`` of a member of an enumeration, which stands for its text."""
    return base if name == "value" else BOTTOM


@register(ATTRIBUTES, Kind.DEVICE)
def _of_device(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    if name != "type":
        return BOTTOM
    if base.device in {Device.CUDA, Device.CPU}:
        return refine(STRING, payload=base.device.value)
    return BOTTOM if base.device is Device.UNKNOWN else STRING


@register(ATTRIBUTES, Kind.MODULE)
def _of_module(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    if isinstance(base.payload, str):
        return external(f"{base.payload}.{name}")
    module = base.payload
    assert isinstance(module, Module)
    at.asks(module, name)
    return module_name(at, module, name)


@register(ATTRIBUTES, Kind.CLASS)
def _of_class(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    cls = base.payload
    assert isinstance(cls, Class)
    at.asks(cls, name)
    if name in cls.nested:
        return AbstractValue(Kind.CLASS, payload=cls.nested[name])
    method = cls.find_method(name)
    if method is not None:
        if method.is_of_class:
            return AbstractValue(Kind.FUNCTION, payload=BoundMethod(method, base))
        return AbstractValue(Kind.FUNCTION, payload=method)
    if name == "apply" and cls.is_differentiable:
        return applied(at, cls)
    return stored_in(at, cls, name)


_RECURRENT = frozenset(
    {
        "torch.nn.GRU",
        "torch.nn.LSTM",
        "torch.nn.RNN",
        "torch.nn.GRUCell",
        "torch.nn.LSTMCell",
        "torch.nn.RNNCell",
    }
)
_OF_LAYERS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"})


def held_by(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return a tensor that an external object holds under a name: a weight, a model output, or a constructor argument."""
    if name in _OF_LAYERS and is_layer(base):
        is_flag = name == "bias" and base.payload in _RECURRENT
        return BOOL if is_flag else weight_of_layer(at, base)
    if name == "param_groups" and is_optimizer(base):
        return groups_of_parameters(at)
    stub = at.context.stub(str(base.payload)) if base.device is not Device.UNKNOWN else None
    made_of = stub is not None and name in stub.operation.args
    if base.device is Device.UNKNOWN or not (made_of or is_tensor_of_models(name)):
        return BOTTOM
    return AbstractValue(Kind.TENSOR, base.device, base.confidence, via=base.via)


@register(ATTRIBUTES, Kind.INSTANCE)
def _of_instance(at: Point, base: AbstractValue, name: str) -> AbstractValue:
    """Return the result of a property, or the stored value of an attribute."""
    cls = base.payload
    if not isinstance(cls, Class):
        return held_by(at, base, name)
    if name in {"_buffers", "_parameters"} and cls.is_module:
        return own_tensors(at)
    at.asks(cls, name)
    methods = cls.overrides(name)
    if methods:
        if not methods[0].is_property:
            return AbstractValue(Kind.FUNCTION, payload=BoundMethod(methods[0], base))
        return _of_property(at, base, name, methods)
    fields = at.fields(cls) if base.items is not None else []
    value = base.items[fields.index(name)] if base.items and name in fields else stored_in(at, cls, name)
    value = before_a_move(at, cls, name, _bound(at, base, cls, name, value))
    if value is BOTTOM and name == "param_groups" and at.stays_open():
        return groups_of_parameters(at)
    value = join(value, _delegated(at, base, cls, name))
    if value.kind in {Kind.UNKNOWN, Kind.MOVED} or (
        value.kind is Kind.TENSOR and value.device is Device.UNKNOWN
    ):
        value = _declared(at, cls, name, value)
    return at.context.observations.attribute(at, cls, name, _transferred_by_name(at, cls, value))


def _delegated(at: Point, base: AbstractValue, cls: Class, name: str) -> AbstractValue:
    """Return the value that ``__getattr__`` gets from another object, for a name that no code of the classes stores."""
    at.asks(cls, "__getattr__")
    if not cls.overrides("__getattr__") or name.startswith("__") or _stores(cls, name):
        return BOTTOM
    getter = cls.find_method("__getattr__")
    if getter is None:
        return BOTTOM
    at.asks(getter.owner or cls, "__getattr__")
    found = []
    for attribute, by_key in at.context.delegates(getter):
        holder = at.attribute(base, attribute) if _stores(cls, attribute) else BOTTOM
        for option in holder.options:
            if by_key:
                found.append(read_item(option, constant(name)))
            elif not _hands_on(option):  # one that does may hand on to this one
                found.append(at.attribute(option, name))
    return join_all(found)


def _stores(cls: Class, name: str) -> bool:
    return any(name in base.stored for base in cls.mro())


def _hands_on(value: AbstractValue) -> bool:
    cls = value.payload if value.kind is Kind.INSTANCE else None
    return isinstance(cls, Class) and cls.find_method("__getattr__") is not None


def _bound(at: Point, base: AbstractValue, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
    """Return a value whose functions from a class body are methods of the object: ``decode = decode_function``."""
    if not any(isinstance(option.payload, Function) for option in value.options):
        return value
    bodies = [at.read(at.context.known.set_in_bodies[each, name]) for each in cls.mro()]
    methods = {option.payload for body in bodies for option in body.options}
    return join_all(
        [
            AbstractValue(Kind.FUNCTION, payload=Partial(option, (base,), ()))
            if isinstance(option.payload, Function) and option.payload in methods
            else option
            for option in value.options
        ]
    )


def _of_property(at: Point, base: AbstractValue, name: str, methods: tuple[Function, ...]) -> AbstractValue:
    """Return the result of a property; one of a module that is being made reads tensors that are still on the host.

    Where the class itself stores the attribute, only objects of some subclasses run a property.
    """
    cls: Class = base.payload
    stored = stored_in(at, cls, name) if cls.find_method(name) is None else BOTTOM
    is_made = cls.is_module and makes_a_module(at)
    if at.recorder is not None and at.node is not None and not is_made and stored is BOTTOM:
        at.recorder.property_read(at.node, _reached(at, cls, methods))
    return call_overrides(at, base, cls, name, Call((), {}))


def _reached(at: Point, cls: Class, methods: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return the properties without those of subclasses that replace the method that reads the property of its object."""
    reader = at.function
    if reader.owner is not cls or len(methods) == 1 or any(each.is_cached_property for each in methods):
        return methods
    return tuple(method for method in methods if not _is_replaced(at, reader, method.owner))


def _is_replaced(at: Point, method: Function, cls: Class | None) -> bool:
    """Return whether a class has its own method in place of one of a base class, and does not call that one."""
    if cls is None:
        return False
    at.asks(cls, method.name)
    own = cls.find_method(method.name)
    return own is not None and own is not method and not _calls_its_base(own)


def _calls_its_base(method: Function) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "super" for node in walk(method.node))


def stored_in(at: Point, cls: Class, name: str) -> AbstractValue:
    """Return the values that a class and its bases store in an attribute, or else those of its subclasses.

    On entry to `__init__`, an object has the values from its class bodies, such as constants that `__init__`
    transfers.
    """
    known = at.context.known
    outside = at.read(known.set_outside[name])
    bases = cls.mro()
    owners = [base for base in bases if name in base.stored]
    below = () if owners else (each for each in outside if cls in each.mro())
    owners += () if owners else cls.storing_below(name)
    set_there = sorted({*below, *(base for base in bases if base in outside)}, key=lambda each: each.key)
    owners = [*dict.fromkeys((*owners, *set_there))]
    if at.function.name == "__init__" and at.function.owner is cls:
        by_bodies = join_all([at.read(known.set_in_bodies[owner, name]) for owner in owners])
        if by_bodies is not BOTTOM:
            return by_bodies
    return as_annotated(at, cls, name, join_all([at.read(known.attributes[owner, name]) for owner in owners]))


def _transferred_by_name(at: Point, cls: Class, value: AbstractValue) -> AbstractValue:
    """Return the value of an attribute, with the devices to which code transfers all attributes of an object."""
    if cls.is_module or copied(value, Device.MIXED) is value:
        return value
    there = join_all([at.read(at.context.known.attributes[base, ANY_NAME]) for base in cls.mro()])
    places = {part.device for part in parts_of(there) if part.kind in {Kind.TENSOR, Kind.MOVED}}
    return join_all([value, *(copied(value, place) for place in places)])


def _declared(at: Point, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
    """Return the annotated value of an attribute that no known code sets."""
    for base in cls.mro():
        if base.annotates(name):
            if not at.declare():
                return value
            promised = annotated(at, base.annotations[name], base.module, base.parent)
            if value.kind is not Kind.MOVED:
                promised = join(value, promised)
            elif promised is BOTTOM:
                return value
            # Buffers move with their module.
            sure = Confidence.INFERRED if cls.is_module else Confidence.DECLARED
            return assumed_tensor(at, promised, name, sure, (base.module, base.annotations[name]))
    return value
