"""Contributions of instructions to the cells of attributes and names."""

from __future__ import annotations

from collections.abc import Iterable

from syncscan.check.infer.dataflow.cells import ANY_TEXT, Cell
from syncscan.check.infer.domain.crossing import crossing
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class, Module
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Kind

ANY_NAME = "*"  # of the attributes that ``setattr(self, name, value)`` and ``Cls(**values)`` set


def tell(at: Point, cell: Cell[AbstractValue], value: AbstractValue) -> None:
    """Contribute a value to a cell, in its form on the other side."""
    if value is not BOTTOM:
        at.tell(cell, crossing(value))


def store_attribute(at: Point, cls: Class, name: str, value: AbstractValue) -> None:
    """Contribute a value to an attribute of a class's instances."""
    if value.kind is Kind.NONE or (value.kind is Kind.MODULE and isinstance(value.payload, Module)):
        return
    if not at.may_tell(cls.module):
        return
    known = at.context.known
    at.asks(cls, name)
    owner = next((base for base in reversed(cls.mro()) if name in base.stored), None)
    if owner is None:
        owner = cls
        at.tell(known.set_outside[name], frozenset({cls}))
    if at.function is at.module.body:
        if not owner.is_named_tuple:
            tell(at, known.set_in_bodies[owner, name], value)
        if value.kind is Kind.STRING and owner.is_enumeration:  # a member, which nothing sets again
            at.tell(known.attributes[owner, name], value)
            return
    tell(at, known.attributes[owner, name], value)


def store_attributes(at: Point, cls: Class, names: Iterable[str], value: AbstractValue) -> None:
    """Contribute a value to the attributes of some names; `ANY_TEXT` stands for any name."""
    for name in names:
        if name == ANY_TEXT:
            store_any_attribute(at, cls, value)
        else:
            store_attribute(at, cls, name, value)


def names_of(at: Point, call: Call, position: int) -> frozenset[str]:
    """Return the names that an argument may be; `ANY_TEXT` where it stays unknown."""
    known = at.texts(call.args[position], call.slot_of(position))
    return known or frozenset([ANY_TEXT] if at.stays_open() else [])


def store_any_attribute(at: Point, cls: Class, value: AbstractValue) -> None:
    """Contribute a value to the attributes of a class's instances that are set under a computed name."""
    if at.may_tell(cls.module):
        tell(at, at.context.known.attributes[cls, ANY_NAME], value)
