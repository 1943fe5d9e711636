"""Who evaluates what: tables that the evaluators fill as they are imported, and that a frame looks into.

The first argument of each is the `Frame`; the rest is said at each table. So an evaluator is added by a module
in ``evaluators/`` alone, and the frame knows none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from syncscan.check.infer.source.trees import types_of
from syncscan.model import Kind, Value

Evaluator = TypeVar("Evaluator", bound=Callable[..., Any])

BODIES: dict[type[ast.AST], Callable[..., None]] = {}  # (frame, node): run what a function consists of
STATEMENTS: dict[type[ast.stmt], Callable[..., bool | None]] = {}  # (frame, node): False if nothing follows
EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {}  # (frame, node)
TARGETS: dict[type[ast.expr], Callable[..., None]] = {}  # (frame, node, value): bind what is assigned
ATTRIBUTES: dict[Kind, Callable[..., Value]] = {}  # (frame, base, name, node): ``base.name``
CALLABLES: dict[Kind, Callable[..., Value]] = {}  # (frame, callee, call): ``callee(...)``
METHODS: dict[Kind, Callable[..., Value]] = {}  # (frame, base, name, call): ``base.name(...)``
FUNCTIONS: dict[str, Callable[..., Value]] = {}  # (frame, call): outside the project, by full name
PACKAGES: dict[str, Callable[..., Value]] = {}  # (frame, name, call): all else in a package outside
DECLARED = ""  # stands among the packages for what the project declares itself


def register(table: dict[Any, Callable[..., Any]], *keys: object) -> Callable[[Evaluator], Evaluator]:
    """Add a function to a table under each key."""

    def added(evaluator: Evaluator) -> Evaluator:
        for key in keys:
            kinds = types_of(key) if isinstance(key, type) else {key}
            table.update(dict.fromkeys(kinds, evaluator))
        return evaluator

    return added
