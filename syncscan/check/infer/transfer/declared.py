"""Annotated values: numbers, which are believed, and modules of torch, which are on the GPU.

Nobody makes such a module in sight, so nothing keeps it on the host. The parameters of an unknown object are on the GPU, too.
"""

from __future__ import annotations

import ast
import functools

from syncscan.check.infer.domain.basic import SEQUENCES, element_of
from syncscan.check.infer.domain.lattice import join_all, with_items
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.ir.instructions import Op
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.transfer.modules import is_layer
from syncscan.check.infer.transfer.point import Point
from syncscan.model import ARRAYS, Confidence, Device, Kind


def annotated(at: Point, node: ast.expr | None, module: Module, scope: Function | None) -> AbstractValue:
    """Return the value that an annotation in a module declares."""
    return with_layers_placed(at, at.context.annotations.read(node, module, scope))


def with_layers_placed(at: Point, promised: AbstractValue) -> AbstractValue:
    """Return an annotated value with its modules of torch on the GPU, in containers and unions, too."""
    if promised.kind is Kind.UNION:
        return join_all([with_layers_placed(at, option) for option in promised.items or ()])
    if promised.element is not None:
        return refine(promised, element=with_layers_placed(at, promised.element))
    if promised.kind in SEQUENCES and promised.items is not None:
        return with_items(promised, [with_layers_placed(at, item) for item in promised.items])
    if not is_layer(promised) or not at.assume():
        return promised
    return refine(promised, device=Device.CUDA, confidence=Confidence.INFERRED)


def as_annotated(at: Point, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
    """Return the stored value of an attribute without tensors, where the annotation allows numbers, texts and lists of them alone.

    As with a parameter, the annotation is believed: such a tensor belongs to another attribute of a table that code spreads
    or copies, or to another path. Only a read such as ``self.count.item()`` says more.
    """
    if not _holds_arrays(value) or _is_read_by_name(at):
        return value
    base = next((base for base in cls.mro() if base.annotates(name)), None)
    if base is None:
        return value
    promised = at.context.annotations.read(base.annotations[name], base.module, base.parent)
    return without_arrays(value, promised) if _is_plain(promised) else value


@functools.cache
def _holds_arrays(value: AbstractValue) -> bool:
    inside = value.items if value.items is not None else (value.element,)
    return value.kind in _TENSORS or any(each is not None and _holds_arrays(each) for each in inside)


@functools.cache
def _is_plain(promised: AbstractValue) -> bool:
    """Return whether an annotated value is a number or a text, or a container of them."""
    if promised.kind is Kind.UNION:
        return all(map(_is_plain, promised.options))
    if promised.kind in _CONTAINERS:
        element = element_of(promised)
        return element is not BOTTOM and _is_plain(element)
    return promised.kind in SCALARS


@functools.cache
def without_arrays(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return a value with what is annotated in place of each tensor or array, in containers, too."""
    if value.kind is Kind.UNION:
        return join_all([without_arrays(option, promised) for option in value.items or ()])
    if value.kind in _TENSORS:
        return promised
    inside = join_all([element_of(option) for option in promised.options if option.kind in _CONTAINERS])
    if inside is BOTTOM or value.kind not in _CONTAINERS:
        return value
    if value.items is not None:
        return with_items(value, [without_arrays(item, inside) for item in value.items])
    return value if value.element is None else refine(value, element=without_arrays(value.element, inside))


def _is_read_by_name(at: Point) -> bool:
    """Return whether the code calls a method of the value that no number has, such as ``item``."""
    ir = at.state.ir
    return any(
        ir.ops[use] == Op.CALL_METHOD and ir.data[use].attribute in _READS for use in at.state.uses[at.number]
    )


_READS = frozenset({"cpu", "item", "numpy", "tolist"})
_TENSORS = ARRAYS | {Kind.MOVED}  # which joins a tensor to one
SCALARS = frozenset({Kind.NUMBER, Kind.STRING, Kind.DTYPE})
_CONTAINERS = frozenset({Kind.DICT, Kind.LIST, Kind.SET, Kind.TUPLE})
