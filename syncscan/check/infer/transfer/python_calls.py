"""Calls of Python's own functions and of its standard library."""

from __future__ import annotations

from syncscan.check.infer.domain.basic import (
    BOOL,
    EMPTY,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    element_of,
    list_of,
    partial_of,
    put,
    sequence,
    slice_of,
    table,
    updated,
)
from syncscan.check.infer.domain.lattice import join, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.by_name import read_by_name
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.comparisons import note_comparisons, note_tests
from syncscan.check.infer.transfer.declared import annotated
from syncscan.check.infer.transfer.guesses import named
from syncscan.check.infer.transfer.made_modules import tell_modules
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, PACKAGES, register
from syncscan.check.infer.transfer.special_methods import elements, iterator_of, next_of
from syncscan.check.infer.transfer.storing import names_of, store_attribute, store_attributes
from syncscan.model import Kind

_RESULTS = {
    **dict.fromkeys(("builtins.int", "builtins.len", "builtins.ord", "builtins.id", "builtins.hash"), INT),
    **dict.fromkeys(("builtins.bool", "builtins.isinstance", "builtins.hasattr", "builtins.callable"), BOOL),
    **dict.fromkeys(("builtins.complex", "builtins.round"), NUMBER),
    "builtins.float": FLOAT,
    **dict.fromkeys(("builtins.str", "builtins.repr", "builtins.format", "builtins.str.format"), STRING),
    **dict.fromkeys(("math.ceil", "math.floor", "math.prod", "math.gcd", "operator.index"), INT),
    **dict.fromkeys(("math.sqrt", "math.log", "math.log2", "math.exp", "math.pow"), FLOAT),
    "builtins.range": list_of(INT),
    "logging.getLogger": AbstractValue(Kind.INSTANCE, payload="logging.Logger"),
}


@register(PACKAGES, "builtins", "math", "operator", "warnings", "logging", "copy", "pickle")
def _of_python(at: Point, name: str, call: Call) -> AbstractValue:
    at.note_operation(name, call)
    return _RESULTS.get(name, BOTTOM)


@register(FUNCTIONS, "copy.copy", "copy.deepcopy", "builtins.abs")
def _the_same(at: Point, call: Call) -> AbstractValue:
    return call.first


@register(FUNCTIONS, "builtins.iter")
def _iterator(at: Point, call: Call) -> AbstractValue:
    return iterator_of(at, call.first)


@register(FUNCTIONS, "builtins.next")
def _next(at: Point, call: Call) -> AbstractValue:
    return next_of(at, call.first)


@register(FUNCTIONS, "builtins.sum")
def _an_element(at: Point, call: Call) -> AbstractValue:
    return elements(at, call.first)


@register(
    FUNCTIONS,
    "itertools.cycle",
    "itertools.islice",
    "rich.progress.track",
    *(f"tqdm.{module}tqdm" for module in ("", "auto.", "asyncio.", "notebook.", "rich.", "std.")),
)
def _the_same_elements(at: Point, call: Call) -> AbstractValue:
    """Return what yields the elements of the first argument, such as a progress bar; unknown where they are."""
    element = elements(at, call.given(0, "iterable"))
    return BOTTOM if element is BOTTOM else list_of(element)


@register(FUNCTIONS, "builtins.max")
def _largest(at: Point, call: Call) -> AbstractValue:
    return note_comparisons(at, "builtins.max", call, ("__gt__", "__lt__"))


@register(FUNCTIONS, "builtins.min")
def _smallest(at: Point, call: Call) -> AbstractValue:
    return note_comparisons(at, "builtins.min", call, ("__lt__", "__gt__"))


@register(FUNCTIONS, "builtins.sorted")
def _sorted(at: Point, call: Call) -> AbstractValue:
    note_comparisons(at, "builtins.sorted", call, ("__lt__", "__gt__"))
    return _list(at, call)


@register(FUNCTIONS, "builtins.filter")
def _filtered(at: Point, call: Call) -> AbstractValue:
    kept = elements(at, call.args[1]) if len(call.args) == 2 else BOTTOM
    note_tests(at, call, kept)
    return list_of(kept)


@register(FUNCTIONS, "builtins.dict.get")
def _got(at: Point, call: Call) -> AbstractValue:
    return at.call_method(call.first, "get", Call(call.args[1:], call.kwargs, call.site))


@register(FUNCTIONS, "builtins.list", "builtins.reversed")
def _list(at: Point, call: Call) -> AbstractValue:
    return _sequence_of(at, Kind.LIST, call)


@register(FUNCTIONS, "builtins.tuple")
def _tuple(at: Point, call: Call) -> AbstractValue:
    return _sequence_of(at, Kind.TUPLE, call)


@register(FUNCTIONS, "builtins.set")
def _set(at: Point, call: Call) -> AbstractValue:
    return _sequence_of(at, Kind.SET, call)


def _sequence_of(at: Point, kind: Kind, call: Call) -> AbstractValue:
    given = call.first
    if given is BOTTOM and call.args and not at.stays_open():
        return BOTTOM  # until the argument is known, and with it perhaps the length
    if given.items is not None and given.kind in {Kind.LIST, Kind.TUPLE}:
        return refine(given, kind=kind)
    return list_of(elements(at, given), kind)


@register(FUNCTIONS, "collections.deque")
def _deque(at: Point, call: Call) -> AbstractValue:
    return _list(at, Call(call.args[:1], {}))


@register(FUNCTIONS, "collections.defaultdict")
def _with_default(at: Point, call: Call) -> AbstractValue:
    """Return a dictionary whose unknown items are what the first argument makes."""
    whole = _dict(at, Call(call.args[1:], call.kwargs))
    made = at.call(call.first, Call((), {}, call.site)) if call.args else BOTTOM
    return put(whole, BOTTOM, made)


@register(FUNCTIONS, "collections.Counter")
def _counter(at: Point, call: Call) -> AbstractValue:
    return list_of(INT, Kind.DICT)


@register(FUNCTIONS, "builtins.dict", "collections.OrderedDict")
def _dict(at: Point, call: Call) -> AbstractValue:
    if call.args and call.first is BOTTOM and not at.stays_open():
        return BOTTOM
    whole = updated(EMPTY, call.first) if call.args else EMPTY
    return updated(whole, table(call.kwargs)) if call.kwargs else whole


@register(FUNCTIONS, "builtins.zip")
def _zip(at: Point, call: Call) -> AbstractValue:
    return list_of(sequence([elements(at, arg) for arg in call.args], Kind.TUPLE))


@register(FUNCTIONS, "builtins.enumerate")
def _enumerate(at: Point, call: Call) -> AbstractValue:
    return list_of(sequence([INT, elements(at, call.first)], Kind.TUPLE))


@register(FUNCTIONS, "builtins.map")
def _map(at: Point, call: Call) -> AbstractValue:
    if not call.args:
        return BOTTOM
    items = tuple(elements(at, arg) for arg in call.args[1:])
    return list_of(at.call(call.first, Call(items, {}, call.site)))


@register(FUNCTIONS, "itertools.chain.from_iterable")
def _chained(at: Point, call: Call) -> AbstractValue:
    return list_of(element_of(element_of(call.first)))


@register(FUNCTIONS, "builtins.slice")
def _slice(at: Point, call: Call) -> AbstractValue:
    return slice_of(call.args)


@register(FUNCTIONS, "builtins.getattr")
def _getattr(at: Point, call: Call) -> AbstractValue:
    if len(call.args) < 2:
        return BOTTOM
    affixes = call.site.affixes if call.site is not None else ("", "")
    read = read_by_name(at, call.first, at.texts(call.args[1], call.slot_of(1)), affixes)
    value = join_all(named(at, at.attribute(option, each), each) for option, each in read)
    return join(value, call.args[2]) if len(call.args) > 2 else value


@register(FUNCTIONS, "builtins.setattr", "builtins.object.__setattr__")
def _setattr(at: Point, call: Call) -> AbstractValue:
    if len(call.args) == 3:
        value = call.args[2]
        names = names_of(at, call, 1)
        for option in call.first.options:
            if option.kind is Kind.INSTANCE and isinstance(option.payload, Class):
                store_attributes(at, option.payload, names, value)
                tell_modules(at, option.payload, value)
    return NONE


@register(FUNCTIONS, "functools.partial")
def _partial(at: Point, call: Call) -> AbstractValue:
    if not call.args:
        return BOTTOM
    callee, *args = call.args
    return partial_of(callee, args, call.kwargs)


@register(FUNCTIONS, "typing.cast")
def _cast(at: Point, call: Call) -> AbstractValue:
    value = call.args[1] if len(call.args) > 1 else BOTTOM
    if value.kind is not Kind.UNKNOWN or call.site is None or not at.declare():
        return value
    return annotated(at, call.site.annotation, at.module, at.function)


@register(FUNCTIONS, "dataclasses.replace")
def _copied_record(at: Point, call: Call) -> AbstractValue:
    for option in call.first.options:
        if isinstance(option.payload, Class):
            for name, value in call.kwargs.items():
                store_attribute(at, option.payload, name, value)
    return call.first
