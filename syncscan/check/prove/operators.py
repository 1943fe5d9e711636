"""Operators and subscripts: their reads from the GPU, and the methods that they run."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.prove.callbacks import receives
from syncscan.check.prove.comparisons import (
    COMPARISONS,
    NAMES,
    PLAIN,
    compared,
    may_read,
    of_arrays,
    refuses_tensors,
)
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.lists import widens
from syncscan.check.prove.outside import blocks
from syncscan.check.prove.python import formats
from syncscan.check.prove.results import result_of
from syncscan.check.prove.special import ITERATION, ORDERING, compares, hashes, may_hold_items, runs
from syncscan.check.prove.truths import asks_truth
from syncscan.check.prove.unread import may_be_read
from syncscan.check.prove.values import (
    ANYWHERE,
    BOOL,
    BOTTOM,
    HOST,
    NO_TENSOR,
    NUMBER,
    STRING,
    TOP,
    AbstractValue,
    elements,
    host_arrays,
    join_all,
    may_be_gpu,
    may_hold_gpu,
    refine,
    tensor,
    under_key,
)
from syncscan.model import Device, Kind

_ITEMS = frozenset({Kind.LIST, Kind.TUPLE})
_REPEATED = _ITEMS | {Kind.STRING}
# Values that are no sequence of Python, or whose index is examined with the operation.
_OTHER_SUBSCRIPTS = frozenset(
    {
        Kind.TENSOR,
        Kind.MOVED,
        Kind.NDARRAY,
        Kind.NUMBER,
        Kind.DICT,
        Kind.SET,
        Kind.NONE,
        Kind.CLASS,
        Kind.FUNCTION,
    }
)
_OF_SETS = frozenset({"Sub", "BitOr", "BitAnd", "BitXor"})


def binary(
    frame: WalkFrame,
    node: ast.AST,
    operator: str,
    left: AbstractValue,
    right: AbstractValue,
    *,
    in_place: bool = False,
) -> AbstractValue:
    """Walk an operator between two values; return the result."""
    if BOTTOM in {left, right}:
        return BOTTOM
    name = NAMES[operator]
    if operator in COMPARISONS:
        names = ("__eq__", "__ne__") if operator in {"Eq", "NotEq"} else ORDERING
        compares(frame, node, (left, right), *names)
    else:
        runs(frame, node, left, *(f"__{prefix}{name}__" for prefix in (("i", "") if in_place else ("",))))
        runs(frame, node, right, f"__r{name}__")
    if in_place and operator == "Add" and any(option.kind is Kind.LIST for option in left.options):
        runs(frame, node, right, *ITERATION)
    pairs = [(one, other) for one in left.options or (left,) for other in right.options or (right,)]
    return join_all([_between(frame, node, operator, one, other) for one, other in pairs])


def _between(
    frame: WalkFrame, node: ast.AST, operator: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    if left.kind is Kind.STRING and operator == "Mod":
        formats(frame, node, right)
        return STRING
    kinds = {left.kind, right.kind}
    if operator == "Mult" and not _REPEATED.isdisjoint(kinds) and Kind.NDARRAY not in kinds:
        return _repeats(frame, node, left, right)
    if Kind.TENSOR in kinds:
        return _of_tensors(frame, node, operator, left, right)
    if operator in COMPARISONS:
        return compared(frame, node, operator, left, right)
    if left.kind in PLAIN and right.kind in PLAIN:
        return STRING if Kind.STRING in {left.kind, right.kind} else NUMBER
    if Kind.NDARRAY in kinds:
        return of_arrays(frame, node, left, right)
    if all(each is HOST or each.kind in PLAIN for each in (left, right)):
        return HOST
    return _of_sequences(frame, node, operator, left, right)


def _of_sequences(
    frame: WalkFrame, node: ast.AST, operator: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    """Walk an operator of containers, or of unknown values."""
    if operator in _OF_SETS:
        runs(frame, node, right, "__iter__")  # by views of dictionaries
        if Kind.SET in {left.kind, right.kind}:
            hashes(frame, node, elements(left), elements(right))
        return _of_sets(frame, operator, left, right)
    if operator == "Add" and left.kind is right.kind and left.kind in _ITEMS:
        if left.items is not None and right.items is not None and left.kind is Kind.TUPLE:
            return AbstractValue(Kind.TUPLE, items=(*left.items, *right.items))
        return AbstractValue(left.kind, element=join_all([elements(left), elements(right)]))
    if operator == "Mult":
        runs(frame, node, left, "__index__")
        runs(frame, node, right, "__index__")
    return TOP


def _repeats(frame: WalkFrame, node: ast.AST, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """Walk the product of a list, a tuple or a text and a number."""
    repeated, times = (left, right) if left.kind in _REPEATED else (right, left)
    runs(frame, node, times, "__index__")
    if may_be_gpu(times):
        frame.may(node, None, "it repeats by what may be a tensor on the GPU", _NUMBER)
    if times.kind is not Kind.NUMBER:
        return TOP
    return (
        STRING if repeated.kind is Kind.STRING else AbstractValue(repeated.kind, element=elements(repeated))
    )


def _of_sets(frame: WalkFrame, operator: str, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """Return the result of an operator that sets have; no tensor has it with a set."""
    kinds, reflected = {left.kind, right.kind}, f"__r{NAMES[operator]}__"
    if kinds == {Kind.SET}:
        return AbstractValue(Kind.SET, element=join_all([elements(left), elements(right)]))
    is_other = left.kind is Kind.SET and right.kind is Kind.UNKNOWN and not frame.source.defines(reflected)
    return AbstractValue(Kind.SET, element=TOP) if is_other else TOP


_NUMBER = "annotate the operand as a number"


def _of_tensors(
    frame: WalkFrame, node: ast.AST, operator: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    """Walk an operator of tensors by the operation table."""
    if operator in COMPARISONS and (
        left.kind in PLAIN - {Kind.NUMBER} or right.kind in PLAIN - {Kind.NUMBER}
    ):
        return BOOL
    name = f"torch.Tensor.__{NAMES[operator]}__"
    operation = frame.source.operation(name)
    if operation is None:
        return frame.gives_up(node, f"`{name}` is not in the operation table")
    bound = Bound.of(operation, [left, right], {})
    blocks(frame, node, name, bound)
    return result_of(bound)


def unary(frame: WalkFrame, node: ast.UnaryOp, value: AbstractValue) -> AbstractValue:
    """Walk an operator of one value."""
    if value is BOTTOM:
        return BOTTOM
    name = NAMES[type(node.op).__name__]
    runs(frame, node, value, f"__{name}__")
    if value.kind is Kind.TENSOR:
        return tensor(value.device, value.dtype, value.ndim)
    if value.kind is Kind.NUMBER:
        return NUMBER
    if value.kind is Kind.UNION:
        return join_all([unary(frame, node, option) for option in value.options])
    return value if value.kind is Kind.NDARRAY else TOP


def compare(frame: WalkFrame, node: ast.Compare) -> AbstractValue:
    """Walk a chain of comparisons; between two of them the truth is asked for."""
    left, found = frame.evaluate(node.left), BOOL
    for position, (operator, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = frame.evaluate(comparator)
        name = type(operator).__name__
        if name in {"Is", "IsNot"}:
            found = BOOL if _is_declared(frame, node.left) else _identity(name, left, right)
        elif name in {"In", "NotIn"}:
            found = _among(left, comparator, _contains(frame, node, left, right), is_in=name == "In")
        else:
            found = binary(frame, node, name, left, right)
        if position + 1 < len(node.ops):
            asks_truth(frame, node, found)
        left = right
    return found if len(node.ops) == 1 else (BOOL if not may_be_gpu(found) else found)


def _is_declared(frame: WalkFrame, node: ast.expr) -> bool:
    """Return whether a node is an annotated parameter; a test for None makes the annotation doubtful."""
    parameter = frame.function.by_name.get(node.id) if isinstance(node, ast.Name) else None
    return parameter is not None and parameter.annotation is not None


def _identity(name: str, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """Return the truth value of a test for None, where the value is known."""
    if BOTTOM in {left, right}:
        return BOTTOM
    if right.kind is not Kind.NONE or left.kind in {Kind.UNKNOWN, Kind.UNION, Kind.MODULE}:
        return BOOL
    return refine(BOOL, payload=(left.kind is Kind.NONE) is (name == "Is"))


def _among(item: AbstractValue, node: ast.expr, found: AbstractValue, *, is_in: bool) -> AbstractValue:
    """Return the truth value of ``item in (1, 2)`` where the item is a known text or number."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else ()
    constants = [each.value for each in parts if isinstance(each, ast.Constant)]
    is_known = item.kind in {Kind.STRING, Kind.NUMBER} and item.payload is not None
    if not parts or len(constants) < len(parts) or not is_known:
        return found
    return refine(BOOL, payload=(item.payload in constants) is is_in)


def _contains(
    frame: WalkFrame, node: ast.AST, item: AbstractValue, container: AbstractValue
) -> AbstractValue:
    """Walk ``item in container``."""
    runs(frame, node, container, "__contains__", "__iter__", "__getitem__")
    compares(frame, node, (item, elements(container)), "__eq__", "__hash__")
    for option in container.options or (container,):
        if option.kind is Kind.TENSOR or option.kind is Kind.UNKNOWN:
            if may_be_gpu(option) and not refuses_tensors(frame, item, "Eq"):
                frame.may(node, None, "it searches what may be a tensor on the GPU", "annotate the container")
        elif (option.kind in _ITEMS and may_read(frame, "Eq", item, elements(option))) or (
            _searches_itself(frame, option) and not refuses_tensors(frame, item, "Eq")
        ):
            frame.may(node, None, "it compares with what may be tensors on the GPU", "annotate the items")
    return BOOL


def _searches_itself(frame: WalkFrame, value: AbstractValue) -> bool:
    """Return whether Python searches an object for an item, by comparing those it holds: a list by its class."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or cls.is_table or frame.source.overrides(cls, "__contains__"):
        return False
    return may_hold_items(frame, cls)


# Subscripts


def subscript(frame: WalkFrame, node: ast.AST, base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Walk a read of a subscript; return the value."""
    if BOTTOM in {base, index}:
        return BOTTOM
    runs(frame, node, base, "__getitem__", "__class_getitem__", "__missing__")
    runs(frame, node, index, "__index__")
    if any(option.kind is Kind.DICT for option in base.options):
        hashes(frame, node, index)
    _reads_index(frame, node, base, index)
    return join_all([_item(frame, node, option, index) for option in base.options or (base,)])


def _reads_index(frame: WalkFrame, node: ast.AST, base: AbstractValue, index: AbstractValue) -> None:
    """Note an index or a bound of a slice that a sequence may read from the GPU."""
    if may_be_read(index) and any(_may_be_sequence(frame, option) for option in base.options or (base,)):
        frame.may(node, None, "the index may be a tensor on the GPU", _NUMBER)


def _may_be_sequence(frame: WalkFrame, value: AbstractValue) -> bool:
    """Return whether a value may be a sequence of Python, or of torch's modules."""
    cls = value.payload
    if value.kind is Kind.INSTANCE and isinstance(cls, Class):
        return not frame.source.overrides(cls, "__getitem__")
    return value.kind not in _OTHER_SUBSCRIPTS


def _item(frame: WalkFrame, node: ast.AST, base: AbstractValue, index: AbstractValue) -> AbstractValue:
    kind = base.kind
    if kind is Kind.TENSOR or (kind is Kind.UNKNOWN and may_be_gpu(base) and _may_block(index)):
        _indexes(frame, node, "torch.Tensor.__getitem__", base, index)
        return _indexed(base, index) if kind is Kind.TENSOR else TOP
    if kind in _ITEMS:
        return _item_of_list(base, index)
    if kind is Kind.NDARRAY or kind is Kind.NUMBER:
        if may_hold_gpu(index):
            frame.may(node, None, "an array is indexed with what may be a tensor on the GPU", _NUMBER)
        return host_arrays()
    if kind is Kind.DICT:
        return under_key(base, index, None)
    if kind is Kind.INSTANCE:
        return HOST if base is HOST else _item_of_object(frame, base)
    return STRING if kind is Kind.STRING else TOP


def _item_of_list(base: AbstractValue, index: AbstractValue) -> AbstractValue:
    if index.kind is Kind.SLICE:
        return AbstractValue(base.kind, element=elements(base))
    place = index.payload
    if base.kind is Kind.TUPLE and base.items is not None and isinstance(place, int):
        return base.items[place] if -len(base.items) <= place < len(base.items) else TOP
    return elements(base)


def _item_of_object(frame: WalkFrame, base: AbstractValue) -> AbstractValue:
    cls = base.payload
    if not isinstance(cls, Class):
        return TOP
    methods = frame.source.overrides(cls, "__getitem__")
    if methods:
        return join_all([frame.prover.returned(method) for method in methods])
    if cls.is_named_tuple:
        return join_all([frame.prover.attribute(cls, name) for name in cls.fields()] or [TOP])
    return TOP


def _may_block(index: AbstractValue) -> bool:
    """Return whether an index is more than numbers, slices of numbers and texts."""
    if index.kind is Kind.UNION:
        return any(map(_may_block, index.options))
    if index.kind in {Kind.NUMBER, Kind.STRING, Kind.NONE}:
        return False
    if index.kind in {Kind.SLICE, Kind.TUPLE}:
        inside = index.items if index.items is not None else (index.element or TOP,)
        return any(map(_may_block, inside))
    return True


def _parts(index: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the elements of an index."""
    if index.kind is Kind.TUPLE:
        return index.items if index.items is not None else (index.element or TOP,)
    return (index,)


def _indexes(
    frame: WalkFrame,
    node: ast.AST,
    name: str,
    base: AbstractValue,
    index: AbstractValue,
    value: AbstractValue | None = None,
) -> None:
    operation = frame.source.operation(name)
    assert operation is not None
    bound = Bound.of(operation, [base, TOP], {})
    bound.values["index"] = _parts(index)
    if value is not None:
        bound.values["value"] = (value,)
        place = _indexed(base, index)
        if any(part.kind is Kind.SLICE for part in _parts(index)):  # then the value is no scalar
            place = refine(place, ndim=place.ndim or 1)
        bound.values["place"] = (place,)
    blocks(frame, node, name, bound)


def _indexed(base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Return the part of a tensor that an index selects, with the definite dimensions."""
    if base.kind is not Kind.TENSOR:
        return ANYWHERE
    parts = _parts(index)
    ndim = base.ndim if all(part.kind is Kind.SLICE for part in parts) else _dims(base.ndim, parts)
    pinned = base.pinned if base.device is Device.CPU else None
    return tensor(base.device, base.dtype, ndim, pinned)


def _dims(ndim: int | None, parts: tuple[AbstractValue, ...]) -> int | None:
    """Return the number of dimensions after each part of an index has used its own."""
    tensors = [part for part in parts if part.kind is Kind.TENSOR]
    if ndim is None or len(tensors) > 1:
        return None
    for part in parts:
        if part.kind is Kind.NUMBER and part.dtype != "bool":
            ndim -= 1
        elif part.kind is Kind.NONE:
            ndim += 1
        elif part.kind is Kind.TENSOR and part.dtype in {"int", "float"} and part.ndim is not None:
            ndim += part.ndim - 1
        elif part.kind is not Kind.SLICE:
            return None
    return ndim


def _is_of_dictionary(index: AbstractValue, value: AbstractValue) -> bool:
    """Return whether no tensor accepts such an index, or such a value."""
    return index.kind is Kind.STRING or value.kind in {Kind.STRING, Kind.NONE}


def stores_item(frame: WalkFrame, target: ast.Subscript, value: AbstractValue) -> None:
    """Walk ``base[index] = value``."""
    base, index = frame.evaluate(target.value), frame.evaluate(target.slice)
    runs(frame, target, base, "__setitem__")
    runs(frame, target, index, "__index__")
    if index.kind is Kind.SLICE:
        runs(frame, target, value, *ITERATION)
    receives(frame, target, [value])
    if any(option.kind is Kind.DICT for option in base.options):
        hashes(frame, target, index)
    widens(frame, target.value, value)
    _reads_index(frame, target, base, index)
    for option in base.options or (base,):
        if option.kind is Kind.TENSOR or (option is TOP and not _is_of_dictionary(index, value)):
            _indexes(frame, target, "torch.Tensor.__setitem__", option, index, value)
        elif option.kind is Kind.NDARRAY and (may_hold_gpu(value) or may_hold_gpu(index)):
            frame.may(target, None, "it stores what may be a tensor on the GPU into an array", _NUMBER)
        elif _converts(option) and may_be_read(value):
            frame.may(target, None, "it stores what may be a tensor on the GPU as a number", _NUMBER)


def _converts(value: AbstractValue) -> bool:
    """Return whether a value may be a buffer, which stores numbers: a ``bytearray``, a ``memoryview``, an ``array``."""
    return value.kind is Kind.STRING or value is HOST or value is NO_TENSOR


def deletes_item(frame: WalkFrame, target: ast.Subscript) -> None:
    """Walk ``del base[index]``."""
    base, index = frame.evaluate(target.value), frame.evaluate(target.slice)
    runs(frame, target, base, "__delitem__")
    runs(frame, target, index, "__index__")
    if any(option.kind is Kind.DICT for option in base.options):
        hashes(frame, target, index)
    _reads_index(frame, target, base, index)
