"""Local variables that hold functions: a call of the variable is a call of each function that it may hold."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from syncscan.check.frequency.flags import values_in
from syncscan.check.infer.source.syntax import last_name


def with_held(names: Iterable[str], function: ast.AST) -> frozenset[str]:
    """Return the names of calls in a function, with those of the functions that called variables may hold."""
    values = values_in(function)
    found = {*names}
    for name in names:
        found.update(held for value in values.get(name, ()) for held in _held_by(value))
    return frozenset(found)


def _held_by(value: ast.expr | None) -> Iterator[str]:
    """Yield the names of the functions that a value may be, or may call after wrapping: ``wrap(train_step)``."""
    if isinstance(value, ast.IfExp):
        yield from _held_by(value.body)
        yield from _held_by(value.orelse)
    for each in value.args if isinstance(value, ast.Call) else [value]:
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield last_name(each)
