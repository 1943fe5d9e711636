"""Python's special methods: a subscript, a loop, `in`, or an operator such as ``+=`` runs a method of a class of the project.

Operators of two operands, such as ``a + b``, run none here: their parameters take values of many kinds, which widen to
anything. In linear_operator 0.6.1 the check then loses four lines and finds none.
"""

from __future__ import annotations

from syncscan.check.infer.domain.basic import iterated, list_of
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.attributes import held_by
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.modules import holds_parameters, weight_of_layer
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.subscripts import read_item
from syncscan.model import Kind

# fmt: off
_IN_PLACE = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "MatMult": "matmul", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "LShift": "lshift", "RShift": "rshift",
}
_UNARY = {"USub": "__neg__", "UAdd": "__pos__", "Invert": "__invert__"}
# fmt: on


def run(at: Point, value: AbstractValue, name: str, *args: AbstractValue) -> AbstractValue | None:
    """Return the result of a special method of a value; None where no class of the project defines it for the value."""
    cls = value.payload
    if value.kind is not Kind.INSTANCE or not isinstance(cls, Class):
        return None
    at.asks(cls, name)
    return at.call_method(value, name, Call(args, {})) if cls.overrides(name) else None


def run_in_place(at: Point, old: AbstractValue, value: AbstractValue, operator: str) -> AbstractValue | None:
    """Return the result of ``old <operator>= value`` where the old value has the method."""
    name = _IN_PLACE.get(operator)
    return None if name is None else run(at, old, f"__i{name}__", value)


def of_unary(at: Point, operand: AbstractValue, operator: str) -> AbstractValue | None:
    """Return the result of an operator with one operand where that has the method."""
    name = _UNARY.get(operator)
    return None if name is None else run(at, operand, name)


def run_contains(at: Point, container: AbstractValue, element: AbstractValue) -> None:
    """Run the method that decides on ``element in container``."""
    for option in container.options:
        run(at, option, "__contains__", element)


def elements(at: Point, value: AbstractValue) -> AbstractValue:
    """Return the value that iterating yields; an object yields what its iterator does."""
    if not any(option.kind is Kind.INSTANCE for option in value.options):
        return iterated(value)
    return join_all([_elements_of(at, option) for option in value.options])


def item_of(at: Point, base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Return an item of any of several values; objects of other packages hold tensors under names.

    An object of the project runs its method. One method answers for all names, so the item under a name is left open.
    """
    if base.kind is Kind.UNION:
        return join_all([item_of(at, option, index) for option in base.options])
    if holds_parameters(base):
        return base if index.kind is Kind.SLICE else weight_of_layer(at, base)
    if base.kind is Kind.INSTANCE and isinstance(base.payload, str) and isinstance(index.payload, str):
        return held_by(at, base, index.payload)
    found = None if base.items is not None else run(at, base, "__getitem__", index)
    return read_item(base, index) if found is None or index.kind is not Kind.NUMBER else found


def _elements_of(at: Point, value: AbstractValue) -> AbstractValue:
    if value.items is not None or value.element is not None:
        return iterated(value)
    if holds_parameters(value) and value.payload != "torch.nn.ParameterDict":  # which yields names
        return weight_of_layer(at, value)
    iterator = run(at, value, "__iter__")
    if iterator is None:
        found = run(at, value, "__getitem__", BOTTOM)
        return iterated(value) if found is None else found
    return next_of(at, iterator)


def iterator_of(at: Point, value: AbstractValue) -> AbstractValue:
    """Return what ``iter(value)`` yields the elements from: what the method of an object returns, or the value itself."""
    found = [(option, run(at, option, "__iter__")) for option in value.options]
    return join_all([_by_item(at, option) if iterator is None else iterator for option, iterator in found])


def _by_item(at: Point, value: AbstractValue) -> AbstractValue:
    """Return what an object without ``__iter__`` is iterated by: its items, or the value itself where it has no such method."""
    found = run(at, value, "__getitem__", BOTTOM)
    return value if found is None else list_of(found)


def next_of(at: Point, iterator: AbstractValue) -> AbstractValue:
    """Return the next element of an iterator; an object of the project runs its method."""
    found = [(option, run(at, option, "__next__")) for option in iterator.options]
    return join_all([iterated(option) if element is None else element for option, element in found])
