"""Abstract values for a proof: nothing known means anything, and each operation on values is on the safe side."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from syncscan.check.infer.domain.basic import (
    BOOL,
    FLOAT,
    INT,
    NDARRAY,
    NONE,
    NUMBER,
    STRING,
    constant,
    list_of,
    sequence,
)
from syncscan.check.infer.domain.lattice import join, join_all
from syncscan.check.infer.domain.value import BOTTOM, DIFFERENCES, TOP, AbstractValue, refine
from syncscan.check.infer.source.index import Class
from syncscan.model import ON_GPU, Device, Kind

__all__ = [
    "ANYWHERE",
    "A_CLASS",
    "BOOL",
    "BOTTOM",
    "CONTEXT",
    "FLOAT",
    "HOST",
    "INT",
    "NDARRAY",
    "NONE",
    "NO_TENSOR",
    "NUMBER",
    "PROPERTY",
    "STRING",
    "SWALLOWING",
    "TOP",
    "UNREACHED",
    "AbstractValue",
    "KeyedValue",
    "Truth",
    "anywhere",
    "constant_of",
    "elements",
    "external",
    "has_tensors",
    "host_arrays",
    "is_protocol",
    "join",
    "join_all",
    "kept_inside",
    "kept_outside",
    "keys_of",
    "lazily",
    "list_of",
    "may_be_gpu",
    "may_hold_gpu",
    "merged",
    "opened",
    "options_of",
    "parts_of",
    "plain",
    "refine",
    "seen_dict",
    "sequence",
    "tensor",
    "tensors_of",
    "truth",
    "under_key",
    "used_later",
    "with_keys",
    "without_protocols",
]  # fmt: skip

# An otherwise unknown object that is no tensor.
NO_TENSOR = AbstractValue(Kind.UNKNOWN, payload="no tensor")
A_CLASS = AbstractValue(Kind.CLASS)  # any
# A value of Python's own that holds no tensor: a text, a path, the time, a match.
HOST = AbstractValue(Kind.INSTANCE, payload="python")
_ARRAYS = frozenset({Kind.TENSOR, Kind.NDARRAY})
_WITHOUT_TENSORS = sys.stdlib_module_names | {"builtins", "numpy", "torch"}  # as variables of modules
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT})
_MUTABLE = frozenset({Kind.LIST, Kind.SET, Kind.DICT})
_LAZY = "lazy"  # the payload of a list that stands for a generator
CONTEXT = AbstractValue(Kind.INSTANCE, payload="contextlib.contextmanager")  # of a generator
SWALLOWING = AbstractValue(
    Kind.INSTANCE, payload="contextlib.suppress"
)  # a context that may swallow exceptions
PROPERTY = AbstractValue(Kind.INSTANCE, payload="builtins.property")
_DECLARED = "declared"  # the payload of a container whose annotation declares the items
_SEEN = "seen"  # of a dictionary that runtime facts know, with its keys and what is under some of them
_ALL_DIFFER = sum(DIFFERENCES.values())


def tensor(
    device: Device = Device.MIXED,
    dtype: str | None = None,
    ndim: int | None = None,
    pinned: bool | None = None,
) -> AbstractValue:
    """Return a tensor; it may be anywhere, and of any dtype and number of dimensions, where these are not given."""
    known = {"dtype": dtype, "ndim": ndim, "pinned": pinned}
    differs = sum(bit for name, bit in DIFFERENCES.items() if known[name] is None)
    return AbstractValue(Kind.TENSOR, device, dtype=dtype, ndim=ndim, pinned=pinned, differs=differs)


ANYWHERE = tensor()


def external(name: str) -> AbstractValue:
    """Return the value of a full name outside the project."""
    return AbstractValue(Kind.MODULE, payload=name)


def opened(value: AbstractValue) -> AbstractValue:
    """Return a value of the check's inference, with every unknown part open."""
    kind = value.kind
    if kind is Kind.UNKNOWN or kind is Kind.MOVED:
        return value if value is NO_TENSOR else TOP
    if kind is Kind.UNION:
        return join_all(map(opened, value.items or ()))
    if kind is Kind.TENSOR:
        place = Device.MIXED if value.device is Device.UNKNOWN else value.device
        return tensor(place, value.dtype, value.ndim, value.pinned)
    if kind in _CONTAINERS:
        return _opened_inside(value)
    if kind is Kind.NUMBER or kind is Kind.NDARRAY:
        return _unspecific(value)
    if kind is Kind.DEVICE and value.device is Device.UNKNOWN:
        return refine(value, device=Device.MIXED)
    if kind is Kind.SLICE and value.items is None:  # an annotation `slice` stands for a slice of numbers
        return AbstractValue(kind, items=(join(INT, NONE),))
    return value


@dataclass(frozen=True, slots=True)
class DictMethod:
    """A method of Python's dictionaries."""

    name: str

    @property
    def key(self) -> str:
        """See `syncscan.check.infer.domain.callables.Defined`."""
        return f"dict.{self.name}"


class KeyedValue(NamedTuple):
    """The value under a key of a dictionary, BOTTOM where the key is never there."""

    key: str
    value: AbstractValue
    may_be_absent: bool


def seen_dict(element: AbstractValue, keys: AbstractValue, entries: Iterable[KeyedValue]) -> AbstractValue:
    """Return a dictionary with all its values, its keys, and the known entries."""
    return AbstractValue(Kind.DICT, element=element, payload=(_SEEN, keys, *entries))


def without_protocols(value: AbstractValue) -> AbstractValue:
    """Return a declared value with anything for an object of a protocol, which objects of other classes satisfy."""
    if value.kind is Kind.UNION:
        return join_all(map(without_protocols, options_of(value)))
    cls = value.payload if value.kind in {Kind.INSTANCE, Kind.CLASS} else None
    if isinstance(cls, Class) and is_protocol(cls):
        return TOP
    if value.items is not None:
        return refine(value, items=tuple(map(without_protocols, value.items)))
    return value if value.element is None else refine(value, element=without_protocols(value.element))


def is_protocol(cls: Class) -> bool:
    """Return whether a class is a protocol itself."""
    return any(name.endswith("Protocol") for name in cls.external_bases)


def under_key(value: AbstractValue, index: AbstractValue, default: AbstractValue | None) -> AbstractValue:
    """Return what a dictionary has under a key; the default, where one is given, if the key may be absent."""
    payload = value.payload
    known = payload[2:] if isinstance(payload, tuple) and payload[:1] == (_SEEN,) else ()
    for entry in known if index.kind is Kind.STRING else ():
        if entry.key == index.payload and not (entry.value is BOTTOM and default is None):
            return entry.value if default is None or not entry.may_be_absent else join(entry.value, default)
    element = value.element if value.element is not None and value.element is not BOTTOM else TOP
    return element if default is None else join(element, default)


def options_of(value: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the options of a value, None among them."""
    return (value.items or ()) if value.kind is Kind.UNION else (value,)


def parts_of(value: AbstractValue, depth: int = 3) -> Iterator[AbstractValue]:
    """Yield the options of a value, and of the items of its lists and tuples."""
    for option in value.options or (value,):
        yield option
        for item in option.items or (option.element,):
            if item is not None and depth:
                yield from parts_of(item, depth - 1)


def with_keys(value: AbstractValue, keys: AbstractValue) -> AbstractValue:
    """Return a dictionary with the keys that an annotation declares."""
    if value.kind is not Kind.DICT or value.items is not None or keys is TOP:
        return value
    return refine(value, payload=(_DECLARED, keys))


def keys_of(value: AbstractValue) -> AbstractValue:
    """Return the value of a dictionary's keys."""
    is_known = isinstance(value.payload, tuple) and value.payload[:1] in ((_DECLARED,), (_SEEN,))
    return value.payload[1] if is_known else TOP


def _opened_inside(value: AbstractValue) -> AbstractValue:
    if value.items is not None and value.kind is Kind.TUPLE:
        return sequence([*map(opened, value.items)], value.kind)
    inside = (value.element,) if value.items is None else value.items
    element = join_all(TOP if each is None else opened(each) for each in inside) if inside else TOP
    return AbstractValue(value.kind, element=list_of(element).element, payload=_DECLARED)


def _unspecific(value: AbstractValue) -> AbstractValue:
    missing = sum(bit for name, bit in DIFFERENCES.items() if getattr(value, name) is None)
    return AbstractValue(
        value.kind,
        dtype=value.dtype,
        ndim=value.ndim,
        pinned=value.pinned,
        payload=value.payload,
        differs=missing,
    )


def host_arrays(dtype: str | None = None) -> AbstractValue:
    """Return what NumPy gives: an array, or a number."""
    if dtype is None:
        return _HOST
    return join(refine(_HOST.options[0], dtype=dtype), refine(_HOST.options[1], dtype=dtype))


_HOST = join(
    AbstractValue(Kind.NDARRAY, differs=_ALL_DIFFER), AbstractValue(Kind.NUMBER, differs=_ALL_DIFFER)
)


def may_be_gpu(value: AbstractValue) -> bool:
    """Return whether nothing shows that a value is no tensor on the GPU."""
    if value.kind is Kind.TENSOR:
        return value.device in ON_GPU or value.device is Device.UNKNOWN
    if value.kind is Kind.UNION:
        return any(map(may_be_gpu, value.items or ()))
    if value.kind is Kind.MODULE:
        return isinstance(value.payload, str) and value.payload.partition(".")[0] not in _WITHOUT_TENSORS
    return value.kind is Kind.MOVED or (
        value.kind is Kind.UNKNOWN and value is not NO_TENSOR and value is not BOTTOM
    )


def may_hold_gpu(value: AbstractValue) -> bool:
    """Return whether a value, or anything in it, may be a tensor on the GPU."""
    if value.kind is Kind.UNION:
        return any(map(may_hold_gpu, value.items or ()))
    if value.kind in _CONTAINERS or value.kind is Kind.SLICE:
        if value.items is not None:
            return any(map(may_hold_gpu, value.items))
        return value.element is None or may_hold_gpu(value.element)
    if value.kind is Kind.INSTANCE:
        return not isinstance(value.payload, str)
    return value is NO_TENSOR or may_be_gpu(value)


def has_tensors(value: AbstractValue) -> bool:
    """Return whether a value is a tensor, or holds one."""
    if value.kind is Kind.TENSOR:
        return True
    return any(map(has_tensors, value.items or ())) or (
        value.element is not None and has_tensors(value.element)
    )


def anywhere(value: AbstractValue) -> AbstractValue:
    """Return a value whose tensors may be on any device."""
    if value.kind is Kind.TENSOR:
        return refine(value, device=Device.MIXED)
    if value.kind is Kind.UNION:
        return join_all(map(anywhere, options_of(value)))
    if value.items is not None:
        return refine(value, items=tuple(map(anywhere, value.items)))
    return value if value.element is None else refine(value, element=anywhere(value.element))


def elements(value: AbstractValue) -> AbstractValue:
    """Return the value of an item in an iteration."""
    if value.kind is Kind.UNION:
        return join_all(elements(option) for option in value.options) if value.options else TOP
    if value.kind is Kind.DICT:
        return keys_of(value)
    if value.kind in _CONTAINERS:
        if value.items is not None:
            return join_all(value.items) if value.items else TOP
        return value.element if value.element is not None else TOP
    if value.kind is Kind.TENSOR:
        return tensor(value.device, value.dtype, value.ndim - 1 if value.ndim else None)
    if value.kind is Kind.NDARRAY:
        return host_arrays()
    return STRING if value.kind is Kind.STRING else TOP


def lazily(value: AbstractValue) -> AbstractValue:
    """Return a list as what gives its items on demand: a generator, ``map(...)``."""
    return refine(value, payload=_LAZY) if value.kind is Kind.LIST else value


def used_later(value: AbstractValue) -> AbstractValue:
    """Return a value as code that runs later gets it: anything for a generator and a context, whose code runs there."""
    if value.kind is Kind.UNION:
        return join_all(map(used_later, value.items or ()))
    is_pending = value.payload in (_LAZY, CONTEXT.payload, SWALLOWING.payload)
    return TOP if is_pending and value.kind in {Kind.LIST, Kind.INSTANCE} else value


def kept_outside(value: AbstractValue) -> AbstractValue:
    """Return a value as others see it once it has a name: anybody may put something into a list, a set or a dictionary."""
    if value.kind is Kind.UNION:
        return join_all(map(kept_outside, value.items or ()))
    if value.kind in _MUTABLE:
        keys = keys_of(value)
        if isinstance(value.payload, tuple) and value.payload[:1] == (_SEEN,):
            return with_keys(AbstractValue(value.kind, element=TOP), keys)
        is_lazy = value.payload == _LAZY
        return (
            value
            if _is_declared(value)
            else AbstractValue(value.kind, element=TOP, payload=_LAZY if is_lazy else None)
        )
    if value.kind is Kind.TUPLE and value.items is not None:
        return sequence([*map(kept_outside, value.items)], Kind.TUPLE)
    return value


def _is_declared(value: AbstractValue) -> bool:
    """Return whether an annotation declares what a container holds."""
    return value.kind in _CONTAINERS and (value.payload == _DECLARED or keys_of(value) is not TOP)


def kept_inside(value: AbstractValue) -> AbstractValue:
    """Return a container without additions. Its items may still escape."""
    if value.kind is Kind.UNION:
        return join_all(map(kept_inside, value.items or ()))
    if value.kind in _CONTAINERS and value.items is not None and value.kind is not Kind.DICT:
        return refine(value, items=tuple(map(kept_outside, value.items)))
    if value.kind in _CONTAINERS and value.element is not None:
        return refine(value, element=kept_outside(value.element))
    return value


def constant_of(node: ast.expr) -> AbstractValue:
    """Return the value of a literal; anything for all else."""
    if isinstance(node, ast.Constant):
        return constant(node.value) if not isinstance(node.value, bytes) else STRING
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return NUMBER
    if isinstance(node, ast.Tuple):
        return list_of(join_all(map(constant_of, node.elts)) if node.elts else TOP, Kind.TUPLE)
    return TOP


def tensors_of(values: Iterable[AbstractValue]) -> list[AbstractValue]:
    """Return what may be a tensor among values and, in tuples and lists, in them; `TOP` where nothing is known."""
    found: list[AbstractValue] = []
    for value in values:
        for option in value.options if value.kind is Kind.UNION else (value,):
            if option.kind is Kind.TENSOR or option is TOP or option is BOTTOM:
                found.append(option)
            elif option.kind in _CONTAINERS:
                inside = option.items if option.items is not None else (option.element or TOP,)
                found += tensors_of(inside)
            elif may_be_gpu(option):
                found.append(TOP)
    return found


def plain(value: AbstractValue) -> AbstractValue:
    """Return what is left of a value that is a number, a text, None, or a container of these; objects of the project stay."""
    if value.kind is Kind.UNION:
        return join_all(map(plain, value.items or ()))
    if value.kind in _CONTAINERS:
        items = None if value.items is None else tuple(map(plain, value.items))
        return refine(value, items=items, element=None if items is not None else plain(value.element or TOP))
    return HOST if value.kind in {Kind.UNKNOWN, Kind.TENSOR, Kind.NDARRAY} else value


def merged(one: Mapping[str, AbstractValue], other: Mapping[str, AbstractValue]) -> dict[str, AbstractValue]:
    """Return the names of two paths where they meet."""
    if one is other:
        return dict(one)
    found = dict(one)
    for name, value in other.items():
        found[name] = join(found[name], value) if name in found else value
    return found


class Unreached(Enum):
    """The truth of a value that is not computed yet: so far, the code behind the test cannot be reached."""

    UNREACHED = "unreached"


UNREACHED = Unreached.UNREACHED
Truth = bool | None | Unreached


def truth(value: AbstractValue) -> Truth:
    """Return the truth of a constant; None where the value is none."""
    if value is BOTTOM:
        return UNREACHED
    if value.kind is Kind.NONE:
        return False
    if value.kind in {Kind.NUMBER, Kind.STRING} and value.payload is not None:
        return bool(value.payload)
    return None
