"""Runtime facts as abstract values of a proof: everything that a name was seen to be, anything where a part of it is open.

A parameter's container holds what was seen in it at the start and at the end of each call. Without the latter, as in a function
that binds the name again, its items may be anything. The items of a result are anything once the result has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.values import (
    ANYWHERE,
    BOOL,
    BOTTOM,
    FLOAT,
    INT,
    NDARRAY,
    NO_TENSOR,
    NONE,
    STRING,
    TOP,
    AbstractValue,
    KeyedValue,
    join,
    join_all,
    may_hold_gpu,
    opened,
    options_of,
    refine,
    seen_dict,
    tensor,
)
from syncscan.facts import ABSENT, AFTER, BOUND, RETURN, Observed, Word, parse_word
from syncscan.model import Device, Kind

# The class of a full name, or whether the project has the module of the name.
Named = Callable[[str], Class | bool]
Words = Mapping[str, Mapping[str, int]]

_DEVICES = {"gpu": Device.CUDA, "host": Device.CPU, "pinned": Device.CPU, "elsewhere": Device.OTHER}
_PLAIN = {"int": INT, "float": FLOAT, "bool": BOOL, "text": STRING, "none": NONE}
_KINDS = {"list": Kind.LIST, "set": Kind.SET, "dict": Kind.DICT, "tuple": Kind.TUPLE}
_MUTABLE = frozenset({Kind.LIST, Kind.SET, Kind.DICT})
_DICTIONARIES = frozenset({"collections.OrderedDict", "collections.defaultdict", "collections.Counter"})


def value_of(observed: Observed, name: str, named: Named) -> AbstractValue | None:
    """Return everything that a name was seen to be; None where nothing was seen."""
    words = observed.words
    if name not in words:
        return None
    if name.startswith("self."):  # which holds it at the start of every method
        return opened(_whole(words, [name], named))
    found = _whole(words, [name], named)
    if name != RETURN and any(option.kind in _MUTABLE for option in options_of(found)):
        after = name + AFTER
        found = _whole(words, [name, after], named) if after in words else _emptied(found)
    return _without_holes(found)


def variable_of(observed: Observed, name: str, named: Named) -> AbstractValue | None:
    """Return everything that a variable was seen to be; None where the end of any call was not seen.

    Containers may have held anything before, and tensors may have been elsewhere.
    """
    words = observed.words
    is_seen = name + BOUND in words and sum(words.get(BOUND, {}).values()) == observed.calls
    return _loose(_whole(words, [name + BOUND], named)) if is_seen else None


def attribute_of(observed: Observed, name: str, named: Named) -> AbstractValue | None:
    """Return everything that an attribute of a parameter was seen to be, at the start and at the end of calls; else None.

    BOTTOM stands for an attribute that every object lacked.
    """
    words, after = observed.words, name + AFTER
    if name not in words or after not in words:
        return None
    if ABSENT in words[name] or ABSENT in words[after]:
        objects = words.get(name.rpartition(".")[0], {})
        whole = sum(count for word, count in objects.items() if parse_word(word).sort not in _PLAIN)
        if any(sum(words[each].values()) != whole for each in (name, after)):
            return None  # an object may compute the attribute
    return _without_holes(_whole(words, [name, after], named))


def _whole(words: Words, names: list[str], named: Named) -> AbstractValue:
    """Return the join of all words for some names, with the values under keys of a dictionary."""
    value = join_all(_values(words, names, named))
    if all(option.kind is not Kind.DICT for option in value.options):
        return value
    known = [dict(_entries(words, name, named)) for name in names]
    entries = [
        KeyedValue(key, join_all(each[key][0] for each in known), any(each[key][1] for each in known))
        for key in known[0]
        if all(key in each for each in known)
    ]
    held = join_all(value for each in known for value, _ in each.values())
    keys = _keys(words, names)
    return join_all(_with_entries(option, held, keys, entries) for option in options_of(value))


def _values(words: Words, names: list[str], named: Named) -> list[AbstractValue]:
    found = (word for name in names for word in sorted(words[name]) if word != ABSENT)
    return [_value(parse_word(word), named) for word in found]


def _keys(words: Words, names: list[str]) -> AbstractValue:
    """Return the keys of a dictionary."""
    return STRING if all(words.get(f"{name}{{}}", {}).keys() == {"text"} for name in names) else TOP


def _with_entries(
    option: AbstractValue, held: AbstractValue, keys: AbstractValue, entries: list[KeyedValue]
) -> AbstractValue:
    """Return a dictionary with the values under its keys; other values as they are."""
    if option.kind is not Kind.DICT:
        return option
    return seen_dict(join(option.element or BOTTOM, held), keys, entries)


def _entries(words: Words, name: str, named: Named) -> Iterator[tuple[str, tuple[AbstractValue, bool]]]:
    """Yield the keys of a dictionary, each with its value, and whether the key may be absent."""
    for other, counts in sorted(words.items()):
        if other.startswith(f"{name}[") and other.endswith("]"):
            values = [_value(parse_word(word), named) for word in sorted(counts) if word != ABSENT]
            yield other[len(name) + 1 : -1], (join_all(values), ABSENT in counts)


def _value(word: Word, named: Named) -> AbstractValue:
    """Return the value of one word; BOTTOM for what a container without items holds."""
    if word.sort in _PLAIN:
        return _PLAIN[word.sort]
    if word.sort == "tensor":
        return tensor(_DEVICES[word.place], word.dtype, None, word.place == "pinned" or None)
    if word.sort == "device":
        return AbstractValue(Kind.DEVICE, _DEVICES[word.place])
    if word.sort == "array":
        return opened(refine(NDARRAY, dtype=word.dtype))
    if word.sort == "object" or (word.cls and word.cls not in _DICTIONARIES):
        return _object(word.cls, named) if word.sort == "object" or named(word.cls) else TOP
    return _container(word, named) if word.sort in _KINDS else TOP


def _object(name: str, named: Named) -> AbstractValue:
    """Return an object of a class, which is no tensor."""
    found = named(name) if name else True
    if isinstance(found, Class):
        return AbstractValue(Kind.INSTANCE, payload=found)
    return TOP if found or name.startswith("torch.distributions.") else NO_TENSOR


def _container(word: Word, named: Named) -> AbstractValue:
    kind, value = _KINDS[word.sort], partial(_value, named=named)
    if word.items is not None:
        return AbstractValue(kind, items=tuple(map(value, word.items)))
    inside = join_all([*map(value, word.inside)])
    return seen_dict(inside, TOP, ()) if kind is Kind.DICT else AbstractValue(kind, element=inside)


def _emptied(value: AbstractValue) -> AbstractValue:
    """Return a value whose containers may hold anything."""
    return join_all(
        AbstractValue(option.kind, element=TOP) if option.kind in _MUTABLE else option
        for option in options_of(value)
    )


def _loose(value: AbstractValue) -> AbstractValue:
    """Return a value whose containers may hold anything, and whose tensors may be anywhere."""
    if value.kind is Kind.UNION:
        return join_all(map(_loose, value.items or ()))
    if value.kind is Kind.TENSOR:
        return ANYWHERE
    if value.items is not None and value.kind is Kind.TUPLE:
        return refine(value, items=tuple(map(_loose, value.items)))
    return AbstractValue(value.kind, element=TOP) if value.kind in _KINDS.values() else value


def _without_holes(value: AbstractValue) -> AbstractValue:
    """Return a value in which anything stands for the items of containers that were seen without items."""
    if value.kind is Kind.UNION:
        return join_all(map(_without_holes, value.items or ()))
    if value.items is not None and value.kind is Kind.TUPLE:
        return refine(value, items=tuple(map(_without_holes, value.items)))
    if value.element is None:
        return value
    return refine(value, element=TOP if value.element is BOTTOM else _without_holes(value.element))


def met_by(value: AbstractValue, seen: AbstractValue) -> AbstractValue:
    """Return a value narrowed by what was seen; tensors that a declaration excludes, and that were seen, are added."""
    if any(option.kind is Kind.TENSOR for option in seen.options) and not may_hold_gpu(value):
        return join(value, seen)
    if not (may_hold_gpu(value) or any(map(_is_foreign, value.options))):
        return value
    items = value.items if value.kind is seen.kind is Kind.TUPLE else None
    if items is not None and seen.items is not None and len(items) == len(seen.items):
        return refine(value, items=tuple(map(met_by, items, seen.items)))
    return seen if is_narrower(seen, value) else value


def is_narrower(seen: AbstractValue, value: AbstractValue) -> bool:
    """Return whether what was seen says more than a value does, in each option of a kind that the value has too."""
    if value is TOP or not may_hold_gpu(seen):
        return True
    if {each.kind for each in seen.options} - {each.kind for each in value.options}:
        return False
    return all(
        each.kind is Kind.TENSOR
        or not may_hold_gpu(each)
        or any(_says_less(option, each) for option in value.options if option.kind is each.kind)
        for each in seen.options
    )


def _says_less(value: AbstractValue, seen: AbstractValue) -> bool:
    """Return whether a container is one of anything, or whether an object is of a class above the one seen."""
    if value.kind is Kind.INSTANCE:
        cls = seen.payload
        return _is_foreign(value) or (isinstance(cls, Class) and value.payload in cls.mro())
    if value.kind is Kind.TUPLE and value.items is not None:  # of another length than what was seen
        return seen.items is not None and len(seen.items) != len(value.items)
    return value.items is None and value.element in (None, TOP)


def _is_foreign(value: AbstractValue) -> bool:
    """Return whether a value is an object of a class outside the project; the project may subclass this class."""
    return value.kind is Kind.INSTANCE and isinstance(value.payload, str)
