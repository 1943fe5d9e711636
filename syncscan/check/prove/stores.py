"""All that a project stores into an attribute, by the classes whose objects it may be of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.prove.bodies import related_to
from syncscan.check.prove.frame import Walks
from syncscan.check.prove.outline import ANNOTATED, ANY_NAME
from syncscan.check.prove.source import Asked, Question, of_classes
from syncscan.check.prove.values import (
    BOTTOM,
    TOP,
    AbstractValue,
    constant_of,
    has_tensors,
    join_all,
    kept_inside,
    kept_outside,
    options_of,
)
from syncscan.check.prove.walk import Walk
from syncscan.model import Kind

_MOST_WRITERS = 40  # functions that set an attribute, beyond which the attribute is widened to anything


def all_written(prover: Walks, cls: Class, name: str) -> list[AbstractValue] | None:
    """Return all values that the project stores into an attribute; None where no code may store into it."""
    related = {*related_to(cls)}
    values = [*map(constant_of, prover.source.bodies.plain(related, name))]
    writers = [each for each in _setting(prover, name, related) if prover.ran.body(each)]
    if len(writers) > _MOST_WRITERS:
        return [TOP]
    if not values and not writers:
        return None
    declared = _declared(prover, cls, name, related)
    if declared is not None:
        values += filter(has_tensors, options_of(prover.answer(Question(Asked.SET, cls, name))))
        known = [declared, *values, *_stored_by(prover, writers, name, related, beside_declared=True)]
        if not any(map(_is_open, known)):
            return known
    values += _stored_by(prover, writers, name, related)
    if TOP not in values:
        values += _stored_by(prover, _setting_any(prover, related), name, related)
    return [TOP] if TOP in values else values


def surely_written(prover: Walks, cls: Class, name: str) -> list[AbstractValue]:
    """Return the values that the project is known to store into an annotated attribute."""
    related = {*related_to(cls)}
    writers = [each for each in _setting(prover, name, related) if prover.ran.body(each)]
    found = _stored_by(prover, writers[:_MOST_WRITERS], name, related, beside_declared=True)
    return [*found, prover.answer(Question(Asked.SET, cls, name))]


def _is_open(value: AbstractValue) -> bool:
    return value is TOP or has_tensors(value)


def _declared(prover: Walks, cls: Class, name: str, related: set[Class]) -> AbstractValue | None:
    """Return what methods of a class, or of one above, declare of an attribute of their object.

    None where none does, or where a related class declares the attribute with a type that may be a tensor.
    """
    found: dict[bool, list[AbstractValue]] = {True: [], False: []}
    for each in _setting(prover, f"{name}{ANNOTATED}", related):
        for base, value in prover.asked(each).stored.get(f"{name}{ANNOTATED}", ()):
            if each.owner in related and _is_of(base, related):
                found[each.owner in cls.mro()].append(value)
    is_open = any(map(_is_open, (*found[True], *found[False])))
    return join_all(found[True]) if found[True] and not is_open else None


def _setting(prover: Walks, name: str, classes: set[Class]) -> list[Function]:
    return of_classes(prover.answer(Question(Asked.STORING, name=name)), classes)


def _setting_any(prover: Walks, classes: set[Class]) -> list[Function]:
    """Return the methods of classes that set an attribute of their object under a computed name."""
    found = _setting(prover, ANY_NAME, classes)
    return [each for each in found if each.owner is not None and prover.ran.body(each)]


def _stored_by(
    prover: Walks,
    writers: Iterable[Function],
    name: str,
    classes: set[Class],
    *,
    beside_declared: bool = False,
) -> list[AbstractValue]:
    """Return all values that some functions store into an attribute, up to the first that is anything.

    Beside a declared value, stores on unknown objects and under computed names do not count, and an empty container holds
    the declared items.
    """
    is_list: bool = prover.answer(Question(Asked.ONLY_LISTS, name=name))
    keep = kept_inside if is_list else kept_outside
    found: list[AbstractValue] = []
    for writer in writers:
        walk = prover.asked(writer)
        if beside_declared:
            sure = [value for base, value in walk.stored.get(name, ()) if _is_of(base, classes)]
            found += [keep(value) for value in sure if value.items != ()]
        else:
            found += map(keep, _stores_of(walk, name, classes, is_list=is_list))
        if TOP in found:
            break
    return found


def _stores_of(walk: Walk, name: str, classes: set[Class], *, is_list: bool) -> Iterator[AbstractValue]:
    """Yield all that a function stores into an attribute of objects of some classes."""
    for base, value in (*walk.stored.get(name, ()), *(walk.filled.get(name, ()) if is_list else ())):
        if _may_be_of(base, classes):
            yield value
    for base, value in walk.stored.get(ANY_NAME, ()):
        if _is_of(base, classes):
            yield value


def _may_be_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether the owner of an attribute that is set may be an object of some classes."""
    if base is BOTTOM:
        return False
    for option in base.options:
        if option.kind in {Kind.INSTANCE, Kind.CLASS}:
            if option.payload in classes:
                return True
        elif option.kind not in {Kind.NUMBER, Kind.STRING, Kind.TENSOR, Kind.NDARRAY, Kind.LIST, Kind.DICT}:
            return option.kind is not Kind.MODULE or not isinstance(option.payload, Module)
    return False


def _is_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether a value is known to be an object of some classes, or may be one of several."""
    kinds = {Kind.INSTANCE, Kind.CLASS}
    return any(option.kind in kinds and option.payload in classes for option in base.options)
