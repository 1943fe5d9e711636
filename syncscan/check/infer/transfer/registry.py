"""The tables of transfer functions, filled by the modules of this package and used by `Point`.

The first argument of each function is the `Point`; a comment at each table lists the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.ir.instructions import Op
from syncscan.model import Kind

Transfer = TypeVar("Transfer", bound=Callable[..., Any])

INSTRUCTIONS: Final[dict[Op, Callable[..., AbstractValue]]] = {}  # (point, values of the operands, data)
ATTRIBUTES: Final[dict[Kind, Callable[..., AbstractValue]]] = {}  # (point, base, name): ``base.name``
CALLABLES: Final[dict[Kind, Callable[..., AbstractValue]]] = {}  # (point, callee, call): ``callee(...)``
METHODS: Final[dict[Kind, Callable[..., AbstractValue]]] = {}  # (point, base, name, call): ``base.name(...)``
FUNCTIONS: Final[
    dict[str, Callable[..., AbstractValue]]
] = {}  # (point, call): outside the project, by full name
PACKAGES: Final[
    dict[str, Callable[..., AbstractValue]]
] = {}  # (point, name, call): all else in a package outside
STUBBED: Final = "*"  # in place of a package name: any package with a stub
DECLARED: Final = ""  # stands among the packages for what the project declares itself


def register(table: dict[Any, Callable[..., Any]], *keys: object) -> Callable[[Transfer], Transfer]:
    """Return a decorator that adds a function to a table under each key."""

    def added(transfer: Transfer) -> Transfer:
        table.update(dict.fromkeys(keys, transfer))
        return transfer

    return added
