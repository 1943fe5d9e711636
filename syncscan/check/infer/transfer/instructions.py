"""Transfer functions of instructions with values; `effects` has the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syncscan.check.infer.dataflow.cells import ANY_TEXT
from syncscan.check.infer.domain.basic import (
    BOOL,
    EMPTY,
    SEQUENCES,
    STRING,
    constant,
    element_of,
    is_batch,
    is_gpu_batch,
    iterated,
    list_of,
    put,
    sequence,
    slice_of,
    table,
    updated,
)
from syncscan.check.infer.domain.crossing import brought_by
from syncscan.check.infer.domain.lattice import REST, as_tensor, join, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.ir.instructions import CallSite, Op
from syncscan.check.infer.source.index import Class, Function, Import
from syncscan.check.infer.transfer.arguments import argument
from syncscan.check.infer.transfer.by_name import called_by_name
from syncscan.check.infer.transfer.call import Call, with_arguments
from syncscan.check.infer.transfer.containers import with_added
from syncscan.check.infer.transfer.declared import annotated
from syncscan.check.infer.transfer.functions import call_function
from syncscan.check.infer.transfer.guesses import by_use, named
from syncscan.check.infer.transfer.hooks import HOOKS, hand_on
from syncscan.check.infer.transfer.loaders import prepared
from syncscan.check.infer.transfer.made_modules import tell_base
from syncscan.check.infer.transfer.methods import inherited, is_known_base, made_by_base
from syncscan.check.infer.transfer.modules import MODULE_METHODS, module_method
from syncscan.check.infer.transfer.names import imported, is_bound, outer_name
from syncscan.check.infer.transfer.operators import binary, changed, compared, unary
from syncscan.check.infer.transfer.point import DEFAULT_DEVICE, Point
from syncscan.check.infer.transfer.registry import INSTRUCTIONS, register
from syncscan.check.infer.transfer.shapes import array_in
from syncscan.check.infer.transfer.special_methods import elements, item_of
from syncscan.check.infer.transfer.subscripts import note_subscript, picked_by, read_item, settled
from syncscan.check.infer.transfer.torch_calls import default_device_of, note_default_device
from syncscan.check.infer.transfer.typed_dicts import of_table
from syncscan.model import ARRAYS, Kind

Values = Sequence[AbstractValue]


@register(INSTRUCTIONS, Op.CONSTANT)
def _constant(at: Point, values: Values, data: Any) -> AbstractValue:
    return BOTTOM if data is ... else constant(data)


@register(INSTRUCTIONS, Op.PARAMETER)
def _parameter(at: Point, values: Values, position: int) -> AbstractValue:
    parameter = at.function.parameters[position]
    value = argument(at, parameter, position, values[0] if values else None)
    value = at.context.observations.parameter(at, parameter.name, value)
    return brought_by(value, frozenset({parameter.name}))


@register(INSTRUCTIONS, Op.ENTRY_DEVICE)
def _entry_device(at: Point, values: Values, of_module: bool) -> AbstractValue:
    """Return the default device on entry to the function."""
    known, owner = at.context.known, at.function.owner
    if owner is not None and owner.is_module and owner.makes(at.function.name):
        where = at.read(known.default_device)
    else:
        where = at.read(known.globals[at.module, DEFAULT_DEVICE])
    return where if where.kind is Kind.DEVICE else BOTTOM


@register(INSTRUCTIONS, Op.READ_NAME)
def _read_name(at: Point, values: Values, name: str) -> AbstractValue:
    value = outer_name(at, name)
    return by_use(at, value) if value is not BOTTOM or is_bound(at, name) else value


@register(INSTRUCTIONS, Op.IMPORT)
def _import(at: Point, values: Values, target: tuple[str, str]) -> AbstractValue:
    return imported(at, Import(*target))


@register(INSTRUCTIONS, Op.PHI)
def _phi(at: Point, values: Values, data: None) -> AbstractValue:
    whole = join_all(values)
    if whole.count == 0 and BOTTOM in values and at.stays_open():
        return refine(whole, count=None)  # an empty tensor need not be one where nothing is known of a path
    return whole


@register(INSTRUCTIONS, Op.JOIN)
def _join(at: Point, values: Values, data: None) -> AbstractValue:
    return join_all(values)


@register(INSTRUCTIONS, Op.ATTRIBUTE)
def _attribute(at: Point, values: Values, data: tuple[str, bool]) -> AbstractValue:
    name, at.is_allowed = data
    value = named(at, at.attribute(values[0], name), name)
    used = by_use(at, value)
    return used if used is value else named(at, used, name)


@register(INSTRUCTIONS, Op.SUBSCRIPT)
def _subscript(at: Point, values: Values, data: None) -> AbstractValue:
    base, index = values
    note_subscript(at, base, index)
    if index is BOTTOM and base.kind not in ARRAYS and not at.stays_open():
        return settled(at, read_item(array_in(base), index))
    if (base is BOTTOM or base.kind is Kind.MOVED) and (picked := picked_by(at, index)) is not None:
        return picked
    item = of_table(at, base, index)
    if item is None:
        item = settled(at, item_of(at, base, index))
    return by_use(at, named(at, item, index.payload) if isinstance(index.payload, str) else item)


def _waits_for_items(at: Point, values: Values, site: CallSite) -> bool:
    """Return whether the number of items in ``*args``, which places the arguments behind it, may still be known."""
    return (
        bool(site.starred) and any(values[place] is BOTTOM for place in site.starred) and not at.stays_open()
    )


def _site(at: Point, values: Values, site: CallSite) -> None:
    at.site = site
    at.is_allowed = site.is_allowed
    at.default_device = values[-1] if site.has_device else None


@register(INSTRUCTIONS, Op.CALL)
def _call(at: Point, values: Values, site: CallSite) -> AbstractValue:
    _site(at, values, site)
    if _waits_for_items(at, values[1:], site):
        return BOTTOM
    slots = at.state.ir.operands[at.number]
    call = with_arguments(values[1:], slots[1:], site)
    callee = values[0]
    is_named = callee.kind is Kind.MODULE and isinstance(callee.payload, str)
    name = callee.payload.rpartition(".")[2] if is_named else ""
    return join(by_use(at, at.call(callee, call)), prepared(at, callee, name, call))


@register(INSTRUCTIONS, Op.CALL_METHOD)
def _call_method(at: Point, values: Values, site: CallSite) -> AbstractValue:
    _site(at, values, site)
    first = 2 if site.has_bound else 1
    if _waits_for_items(at, values[first:], site):
        return BOTTOM
    if not site.attribute:
        return by_use(at, called_by_name(at, values, site))
    call = with_arguments(values[first:], at.state.ir.operands[at.number][first:], site)
    if site.has_bound and values[1].kind is not Kind.UNKNOWN:
        return by_use(at, at.call(values[1], call))
    made = by_use(at, at.call_method(values[0], site.attribute, call))
    if site.attribute in HOOKS:
        hand_on(at, values[0], site.attribute, call)
    return join(made, prepared(at, values[0], site.attribute, call))


@register(INSTRUCTIONS, Op.CALL_SUPER)
def _call_super(at: Point, values: Values, site: CallSite) -> AbstractValue:
    _site(at, values, site)
    call, name = with_arguments(values, at.state.ir.operands[at.number], site), site.attribute
    cls = _enclosing_class(at.function)
    if cls is None:
        return BOTTOM
    at.asks(cls, name)
    itself = AbstractValue(Kind.INSTANCE, payload=cls)
    for base in cls.mro()[1:]:
        if name in base.methods:
            return call_function(at, base.methods[name], call.on(itself))
    for outside in (each for base in cls.mro() for each in base.external_bases):
        if name == "__init__" and is_known_base(at, outside):
            return made_by_base(at, cls, outside, call)
        if name == "__init__" and cls.is_module:
            tell_base(at, cls, outside, call)
    if (method := inherited(at, cls, name)) is not None:
        return at.call_outside(method, call.on(itself))
    is_inherited = cls.is_module and name in MODULE_METHODS and name != "__call__"
    return module_method(at, itself, name, call) if is_inherited else BOTTOM


def _enclosing_class(function: Function) -> Class | None:
    scope: Function | None = function
    while scope is not None and scope.owner is None:
        scope = scope.parent
    return scope.owner if scope is not None else None


@register(INSTRUCTIONS, Op.BINARY)
def _binary(at: Point, values: Values, operator: str) -> AbstractValue:
    return _computed(at, binary(at, values[0], values[1], operator), values)


@register(INSTRUCTIONS, Op.UNARY)
def _unary(at: Point, values: Values, operator: str) -> AbstractValue:
    return unary(at, values[0], operator)


@register(INSTRUCTIONS, Op.COMPARE)
def _compare(at: Point, values: Values, operators: tuple[str, ...]) -> AbstractValue:
    return _computed(at, compared(at, values, operators), values)


def _computed(at: Point, result: AbstractValue, operands: Values) -> AbstractValue:
    """Return the result of an operator; by its use it is a tensor where its operands may be tensors or numbers."""
    may_be = all(option.kind in _OF_TENSORS for operand in operands for option in operand.options)
    return by_use(at, result) if may_be else result


_OF_TENSORS = frozenset({Kind.MOVED, Kind.NUMBER, Kind.TENSOR, Kind.UNKNOWN})


@register(INSTRUCTIONS, Op.TEXT)
def _text(at: Point, values: Values, is_device: bool) -> AbstractValue:
    return AbstractValue(Kind.STRING, payload="cuda") if is_device else STRING


@register(INSTRUCTIONS, Op.SEQUENCE)
def _sequence(at: Point, values: Values, data: tuple[Kind, tuple[int, ...]]) -> AbstractValue:
    kind, starred = data
    if starred:
        known = _spread_out(values, starred)
        if known is not None:
            return sequence(known, kind)
        if any(values[place] is BOTTOM for place in starred) and not at.stays_open():
            return BOTTOM
        parts = [iterated(each) if place in starred else each for place, each in enumerate(values)]
        return list_of(join_all(parts), kind)
    if not values:
        return list_of(BOTTOM, kind) if kind is Kind.LIST else sequence([], kind)
    return sequence([*values], kind)


def _spread_out(values: Values, starred: tuple[int, ...]) -> list[AbstractValue] | None:
    """Return the items of ``[*a, b]`` one by one, or None where those of ``a`` are not known one by one."""
    items: list[AbstractValue] = []
    for place, value in enumerate(values):
        if place not in starred:
            items.append(value)
        elif value.kind in {Kind.LIST, Kind.TUPLE} and value.items is not None:
            items += value.items
        else:
            return None
    return items


@register(INSTRUCTIONS, Op.SET)
def _set(at: Point, values: Values, data: None) -> AbstractValue:
    return list_of(join_all(values), Kind.SET)


@register(INSTRUCTIONS, Op.DICT)
def _dict(at: Point, values: Values, data: None) -> AbstractValue:
    whole, slots = EMPTY, at.state.ir.operands[at.number]
    for place in range(0, len(values), 2):
        value, is_spread = values[place + 1], slots[place] < 0
        if (value if is_spread else values[place]) is BOTTOM and not at.stays_open():
            if is_spread:
                return BOTTOM  # which may replace items before it
            continue
        whole = updated(whole, value) if is_spread else put(whole, values[place], value)
    return whole


@register(INSTRUCTIONS, Op.LIST_OF)
def _list_of(at: Point, values: Values, kind: Kind) -> AbstractValue:
    return list_of(values[0], kind)


@register(INSTRUCTIONS, Op.DICT_OF)
def _dict_of(at: Point, values: Values, data: None) -> AbstractValue:
    return put(EMPTY, BOTTOM, values[0])


@register(INSTRUCTIONS, Op.SLICE)
def _slice(at: Point, values: Values, data: None) -> AbstractValue:
    return slice_of([refine(as_tensor(each), ndim=0) if is_gpu_batch(each) else each for each in values])


@register(INSTRUCTIONS, Op.ITERATED)
def _iterated(at: Point, values: Values, data: None) -> AbstractValue:
    return by_use(at, settled(at, elements(at, values[0])))


@register(INSTRUCTIONS, Op.UNPACKED)
def _unpacked(at: Point, values: Values, data: tuple[int, int, int | None]) -> AbstractValue:
    position, count, star = data
    return by_use(at, join_all([_target(at, option, position, count, star) for option in values[0].options]))


def _target(at: Point, value: AbstractValue, position: int, count: int, star: int | None) -> AbstractValue:
    """Return what the target at a position gets of a value; ``star`` is the position of the starred one."""
    if value.kind is Kind.INSTANCE and isinstance(value.payload, Class) and value.payload.is_record:
        fields = at.fields(value.payload)[:count]
        if len(fields) == count and star is None:
            return at.attribute(value, fields[position])
    items = value.items if value.kind in SEQUENCES else None
    if items is not None and _fits(items, count, star):
        return items[position if star is None or position < star else position - count]
    if items is not None and value.kind is Kind.TUPLE:  # of another length than the one unpacked here
        return BOTTOM
    return settled(at, elements(at, value))


def _fits(items: Sequence[AbstractValue], count: int, star: int | None) -> bool:
    """Return whether so many targets, one of them starred or none, take these items."""
    return len(items) == count if star is None else len(items) >= count - 1


@register(INSTRUCTIONS, Op.CAPTURED_PATTERN)
def _captured_pattern(at: Point, values: Values, data: tuple[int, int]) -> AbstractValue:
    (value,), (position, count) = values, data
    items = value.items if value.kind is not Kind.UNION else None
    return items[position] if items is not None and len(items) == count else element_of(value)


@register(INSTRUCTIONS, Op.STARRED)
def _starred(at: Point, values: Values, data: tuple[int, int, int]) -> AbstractValue:
    (value,), (position, count, _) = values, data
    items = value.items if value.kind in {Kind.LIST, Kind.TUPLE} else None
    if items is not None and _fits(items, count, position):
        return sequence([*items[position : len(items) - (count - 1 - position)]], Kind.LIST)
    return list_of(by_use(at, settled(at, element_of(value))))


@register(INSTRUCTIONS, Op.ADDED)
def _added(at: Point, values: Values, site: CallSite) -> AbstractValue:
    first = 2 if site.has_bound else 1
    call = with_arguments(values[first:], at.state.ir.operands[at.number][first:], site)
    is_open = site.attribute == "update" and bool(call.args) and call.first is BOTTOM
    return BOTTOM if is_open and not at.stays_open() else with_added(values[0], site.attribute, call)


@register(INSTRUCTIONS, Op.PUT)
def _put(at: Point, values: Values, operator: str | None) -> AbstractValue:
    """Return a container after a store. Each option of a union is changed by its own item: a list of numbers takes no tensor."""
    base, index, value = values
    if base.kind is Kind.UNION:
        return join_all([_put(at, (option, index, value), operator) for option in base.items or ()])
    if operator is not None and base.kind in _CHANGEABLE:
        value = _augmented(at, (read_item(base, index), value), operator)
    if base.kind is Kind.DICT:
        return base if index is BOTTOM and not at.stays_open() else put(base, index, value)
    if is_batch(base) and index.kind is Kind.STRING:  # a dictionary, since only that takes texts
        return put(table({REST: base}), index, value)
    return list_of(join(element_of(base), value), base.kind) if base.kind is Kind.LIST else base


_CHANGEABLE = frozenset({Kind.DICT, Kind.LIST})


@register(INSTRUCTIONS, Op.STORED)
def _stored(at: Point, values: Values, data: None) -> AbstractValue:
    base, index, value = values
    if base.kind is Kind.UNION:
        return join_all([_stored(at, (option, index, value), data) for option in base.options])
    if base.kind in ARRAYS:
        return read_item(base, index)
    return value if base is not BOTTOM or at.stays_open() else BOTTOM


@register(INSTRUCTIONS, Op.RESIZED)
def _resized(at: Point, values: Values, data: None) -> AbstractValue:
    """Return a tensor with an unknown number of elements, after an operation that may resize it."""
    return refine(values[0], count=None) if values[0].kind is Kind.TENSOR else values[0]


@register(INSTRUCTIONS, Op.LAMBDA)
def _lambda(at: Point, values: Values, number: int) -> AbstractValue:
    function = at.state.ir.lambdas[number]
    at.solver.meet(function)
    return AbstractValue(Kind.FUNCTION, payload=function)


# Contexts, names and refinements


@register(INSTRUCTIONS, Op.ENTERED)
def _entered(at: Point, values: Values, is_allowed: bool) -> AbstractValue:
    """Return the value that ``with value as x`` binds."""
    at.is_allowed = is_allowed
    return join_all([_entered_one(at, option) for option in values[0].options])


def _entered_one(at: Point, value: AbstractValue) -> AbstractValue:
    if value.kind is Kind.LIST:  # a generator under contextlib.contextmanager
        return settled(at, element_of(value))
    if value.kind is Kind.INSTANCE:
        entered = at.call_method(value, "__enter__", Call((), {}))
        if entered.kind is Kind.UNKNOWN:
            return value if at.stays_open() else BOTTOM
        return entered
    return BOTTOM


@register(INSTRUCTIONS, Op.WITH_DEVICE)
def _with_device(at: Point, values: Values, data: None) -> AbstractValue:
    before, value = values
    if value.kind is Kind.DEVICE:
        note_default_device(at, value)
        return value
    if value is BOTTOM:
        return AbstractValue(Kind.DEVICE) if at.stays_open() else BOTTOM
    return before


@register(INSTRUCTIONS, Op.SET_DEVICE)
def _set_device(at: Point, values: Values, site: CallSite) -> AbstractValue:
    first = 3 if site.has_bound else 2
    return default_device_of(values[first])


@register(INSTRUCTIONS, Op.NAMED)
def _named(at: Point, values: Values, name: str) -> AbstractValue:
    return named(at, values[0], name)


@register(INSTRUCTIONS, Op.ANNOTATED)
def _annotated(at: Point, values: Values, annotation: Any) -> AbstractValue:
    value = values[0] if values else BOTTOM
    is_empty = value.element is BOTTOM or value is EMPTY
    if value.kind is not Kind.UNKNOWN and not is_empty:
        return value
    if not at.declare():
        return value
    if value.kind is Kind.UNKNOWN:
        return annotated(at, annotation, at.module, at.function)
    # What is added to an empty container tells where it is.
    promised = at.context.annotations.read(annotation, at.module, at.function)
    return promised if promised.element is not None else value


@register(INSTRUCTIONS, Op.AUGMENTED)
def _augmented(at: Point, values: Values, operator: str) -> AbstractValue:
    old, value = values
    if old is BOTTOM and not at.stays_open():
        return BOTTOM
    in_place = [option for option in old.options if option.kind is Kind.TENSOR]  # it stays where it is
    others = [
        changed(at, option, value, operator) for option in old.options if option.kind is not Kind.TENSOR
    ]
    return join_all([*in_place, *others])


@register(INSTRUCTIONS, Op.REBOUND)
def _rebound(at: Point, values: Values, name: str) -> AbstractValue:
    return join(values[0], at.read(at.context.known.captured[at.function, name]))


@register(INSTRUCTIONS, Op.MAY_BE)
def _may_be(at: Point, values: Values, data: tuple[str, bool]) -> AbstractValue:
    """Return BOTTOM where no caller passes a text for which the comparison has this outcome."""
    (passed,), (text, is_equal) = values, data
    slot = at.state.ir.operands[at.number][0]
    parameter = at.context.parameter_at(at.state, slot)
    if not is_equal or parameter is None or parameter.name not in at.context.chosen_by_text(at.function):
        return BOOL
    texts = at.texts(passed, slot)
    if texts.isdisjoint({text, ANY_TEXT}) and (texts or not at.stays_open()):
        return BOTTOM
    return BOOL


@register(INSTRUCTIONS, Op.GATE)
def _gate(at: Point, values: Values, data: None) -> AbstractValue:
    return BOTTOM if values[1] is BOTTOM else values[0]
