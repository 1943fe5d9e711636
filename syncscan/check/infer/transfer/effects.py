"""Transfer functions of instructions with effects: stores, results, and records."""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.check.infer.dataflow.cells import MOVED, UNLESS_NONE
from syncscan.check.infer.domain.basic import BOOL, NONE, element_of, list_of
from syncscan.check.infer.domain.crossing import crossing, parts_on_gpu, returned, without_via
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.ir.instructions import TESTS_FOR_NONE, Op, Slot
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.transfer.declared import annotated
from syncscan.check.infer.transfer.distributions import is_default_of_checks, note_default_checks
from syncscan.check.infer.transfer.made_modules import tell_held, tell_modules
from syncscan.check.infer.transfer.modules import is_layer
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import INSTRUCTIONS, register
from syncscan.check.infer.transfer.special_methods import run
from syncscan.check.infer.transfer.storing import store_attribute, tell
from syncscan.check.infer.transfer.subscripts import note_subscript
from syncscan.check.infer.transfer.typed_dicts import store_in_table
from syncscan.check.infer.transfer.virtual import place_of
from syncscan.model import Confidence, Device, Kind

Values = Sequence[AbstractValue]


@register(INSTRUCTIONS, Op.STORE_ATTRIBUTE)
def _store_attribute(at: Point, values: Values, data: tuple[str, str, bool]) -> AbstractValue:
    (base, value), (name, _, is_mutated) = values, data
    if is_default_of_checks(base, name):
        note_default_checks(at, value)
    for option in base.options:
        is_object = option.kind is Kind.INSTANCE or (option.kind is Kind.CLASS and not is_mutated)
        if is_object and isinstance(option.payload, Class):
            store_attribute(at, option.payload, name, value)
            if not _is_parameter(at):
                tell_modules(at, option.payload, value)
    return BOTTOM


def _is_parameter(at: Point) -> bool:
    """Return whether an instruction stores a parameter as it is; where that is a module, each object has its own (`new_module`)."""
    stored = at.state.ir.operands[at.number][1]
    return stored >= 0 and at.state.ir.ops[stored] == Op.PARAMETER


@register(INSTRUCTIONS, Op.STORE_CLASS)
def _store_class(at: Point, values: Values, data: tuple[Class, str]) -> AbstractValue:
    (cls, name), value = data, values[0]
    store_attribute(at, cls, name, value)
    if cls.is_named_tuple:  # the default of a field, which no object changes
        at.tell(at.context.known.set_in_bodies[cls, name], value)
    return BOTTOM


@register(INSTRUCTIONS, Op.STORE_ITEM)
def _store_item(at: Point, values: Values, data: None) -> AbstractValue:
    base, index, value = values[:3]
    for option in base.options:
        run(at, option, "__setitem__", index, value)
        store_in_table(at, option, index, value)
        if is_layer(option):
            tell_held(at, [value])
    if len(values) > 3 and values[3].kind not in {Kind.TENSOR, Kind.UNION}:
        return BOTTOM
    if base.kind is not Kind.MOVED:
        note_subscript(at, base, index, _stored(at, base, value))
    return BOTTOM


@register(INSTRUCTIONS, Op.DELETE_ITEM)
def _delete_item(at: Point, values: Values, data: None) -> AbstractValue:
    base, index = values
    for option in base.options:
        run(at, option, "__delitem__", index)
    note_subscript(at, base, index)
    return BOTTOM


def _stored(at: Point, base: AbstractValue, value: AbstractValue) -> AbstractValue:
    """Return the value stored in a tensor; one of unknown device is on the GPU if the tensor is, as operands share a device."""
    if not base.is_gpu:
        return value
    if value is BOTTOM and _is_computed(at, 2) and at.assume():
        return AbstractValue(Kind.TENSOR, base.device, Confidence.INFERRED)
    is_open = value.kind is Kind.TENSOR and value.device in _OPEN
    sure = value.confidence if value.device is Device.MIXED else Confidence.INFERRED
    return refine(value, device=Device.CUDA, confidence=sure) if is_open else value


_OPEN = frozenset({Device.UNKNOWN, Device.MIXED})


def _is_computed(at: Point, operand: int) -> bool:
    """Return whether an operand is the result of a call or an item; a name or an attribute may be a number instead."""
    slot = at.state.ir.operands[at.number][operand]
    return slot >= 0 and at.state.ir.ops[slot] in _COMPUTED


_COMPUTED = frozenset({Op.CALL, Op.CALL_METHOD, Op.UNPACKED, Op.SUBSCRIPT})


@register(INSTRUCTIONS, Op.STORE_GLOBAL)
def _store_global(at: Point, values: Values, name: str) -> AbstractValue:
    value, variable = values[0], at.context.known.globals[at.module, name]
    if at.function is at.module.body and _is_record_of_texts(value):
        at.tell(variable, value)
    else:
        tell(at, variable, value)
    return BOTTOM


def _is_record_of_texts(value: AbstractValue) -> bool:
    """Return whether a value is a named tuple of texts, which are its own for good."""
    items = value.items if value.kind is Kind.INSTANCE else None
    return items is not None and all(item.kind is Kind.STRING for item in items)


@register(INSTRUCTIONS, Op.STORE_CAPTURED)
def _store_captured(at: Point, values: Values, data: tuple[Function, str]) -> AbstractValue:
    tell(at, at.context.known.captured[data], values[0])
    return BOTTOM


@register(INSTRUCTIONS, Op.PUBLISH)
def _publish(at: Point, values: Values, name: str) -> AbstractValue:
    """Contribute the value of a name to its cell for nested functions."""
    if values[0] is not BOTTOM:
        at.tell(at.context.known.captured[at.function, name], without_via(values[0]))
    return BOTTOM


_SOMETHING_ELSE = frozenset({""})  # than a parameter


@register(INSTRUCTIONS, Op.RETURN)
def _return(at: Point, values: Values, data: None) -> AbstractValue:
    if at.function.is_generator:
        return BOTTOM
    observations = at.context.observations
    value = observations.result(at, values[0])
    handed = None if observations.has(at.function) else _handed(at, at.state.ir.operands[at.number][0])
    if handed is not None and value is not NONE:
        moves = at.context.moves_in_place(at.function)
        told = frozenset({handed, MOVED} if moves else {handed})
        at.tell(at.context.known.handed[at.function], told)
    else:
        _returned(at, value)
    return value


def _handed(at: Point, slot: Slot) -> str | None:
    """Return the parameter whose argument a slot holds unchanged, or ``name()`` for what a call of the argument returns."""
    name = _argument_at(at, slot)
    if name is not None:
        return name
    site = at.state.ir.data[slot] if slot >= 0 and at.state.ir.ops[slot] == Op.CALL else None
    if site is None or site.positional or site.keywords or at.function.owner is not None:
        return None
    called = _argument_at(at, at.state.ir.operands[slot][0])
    return f"{called.removesuffix(UNLESS_NONE)}()" if called is not None else None


def _argument_at(at: Point, slot: Slot) -> str | None:
    """Return the name of the parameter whose argument, or one of whose arguments, a slot holds unchanged."""
    ir, mark = at.state.ir, ""
    while slot >= 0 and ir.ops[slot] in TESTS_FOR_NONE:
        slot, mark = ir.operands[slot][0], UNLESS_NONE
    parameter = at.context.parameter_at(at.state, slot)
    if parameter is not None:
        return parameter.name + mark if at.function.is_argument(parameter) else None
    if slot < 0 or ir.ops[slot] != Op.ITERATED or at.function.owner is not None:
        return None
    parameter = at.context.parameter_at(at.state, ir.operands[slot][0])
    return parameter.name if parameter is not None and parameter is at.function.rest else None


@register(INSTRUCTIONS, Op.YIELD)
def _yield(at: Point, values: Values, is_spread: bool) -> AbstractValue:
    _returned(at, list_of(crossing(element_of(values[0]) if is_spread else values[0])))
    return BOTTOM


def _returned(at: Point, value: AbstractValue) -> None:
    """Contribute a result to the callers' cells, including those of callers through base classes."""
    known, function = at.context.known, at.function
    names: set[str] = set()
    for part in parts_on_gpu(value):
        names |= part.via or _SOMETHING_ELSE
    if names:
        at.tell(known.placing[function], frozenset(names))
    if value is BOTTOM:
        _or_unknown(at)
    else:
        outside, told = crossing(value), returned(value)  # which differ for a new module
        at.tell(
            known.returns[function],
            outside if told is not outside and at.context.moves_in_place(function) else told,
        )


def _or_unknown(at: Point) -> None:
    """Forget a truth value that the other returns of a function have where one stays unknown: it is no constant of the callers."""
    cell = at.context.known.returns[at.function]
    known = at.read(cell)
    if known.kind is Kind.NUMBER and isinstance(known.payload, bool) and at.stays_open():
        at.tell(cell, BOOL)


def _declared_result(at: Point) -> AbstractValue:
    declared = getattr(at.function.node, "returns", None)
    return BOTTOM if declared is None else annotated(at, declared, at.module, at.function)


@register(INSTRUCTIONS, Op.RESULT)
def _result(at: Point, values: Values, data: None) -> AbstractValue:
    """Contribute the function's result to callers through base classes: from its body, or else its annotation."""
    known, function = at.context.known, at.function
    virtuals = function.virtuals()
    if not virtuals:
        return BOTTOM
    value = at.read(known.returns[function])
    if (value.kind is Kind.UNKNOWN or value.kind is Kind.NONE) and at.declare():
        value = join(value, _declared_result(at)) if value is NONE else _declared_result(at)
    placing = frozenset((name, place_of(function, name)) for name in at.read(known.placing[function]))
    names = at.read(known.handed[function]) - {MOVED}
    handed = frozenset(
        (name, place_of(function, name)) for name in (each.removesuffix(UNLESS_NONE) for each in names)
    )
    for virtual in virtuals:
        if value is not BOTTOM:
            at.tell(known.virtual_returns[virtual], value)
        at.tell(known.virtual_placing[virtual], placing)
        if handed:
            at.tell(known.virtual_handed[virtual], handed)
    return BOTTOM


@register(INSTRUCTIONS, Op.LEFT_OUT)
def _left_out(at: Point, values: Values, data: None) -> AbstractValue:
    if isinstance(values[0].payload, Function):
        at.state.elsewhere[values[0].payload] = None
    return BOTTOM


@register(INSTRUCTIONS, Op.MIRROR)
def _mirror(at: Point, values: Values, data: tuple[str, str]) -> AbstractValue:
    """Record ``self.lens_cpu[rows] += n`` where ``self.lens`` is on the GPU and no other code writes the mirror."""
    (array, owner), (name, mirror) = values, data
    if not (array.kind is Kind.NDARRAY or array.is_cpu_tensor):
        return BOTTOM
    source = _on_gpu(at, owner, name)
    if source is None or at.context.is_refreshed(mirror, at.function):
        return BOTTOM
    at.state.blocking[at.number] = None
    if at.recorder is not None and at.node is not None:
        at.recorder.mirror(at.node, source)
    return BOTTOM


def _on_gpu(at: Point, owner: AbstractValue, name: str) -> AbstractValue | None:
    """Return an object's attribute, or the ``gpu`` attribute of that attribute, if it is a GPU tensor; else None."""
    with at.unsure():
        for _ in range(2):
            if owner.kind is not Kind.INSTANCE or not isinstance(owner.payload, Class):
                return None
            found = at.attribute(owner, name)
            if found.is_gpu:
                return found
            owner, name = found, "gpu"
    return None
