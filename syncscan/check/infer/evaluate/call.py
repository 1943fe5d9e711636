"""A call as it is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from syncscan.check.infer.table.conditions import Bound
from syncscan.model import UNKNOWN, Value
from syncscan.ops import Operation


class Call(NamedTuple):
    """The arguments of a call, and the expression that makes it."""

    args: Sequence[Value]
    kwargs: Mapping[str, Value]
    node: ast.expr

    @property
    def first(self) -> Value:
        """The first positional argument, if any."""
        return self.args[0] if self.args else UNKNOWN

    @property
    def values(self) -> list[Value]:
        """Every argument."""
        return [*self.args, *self.kwargs.values()]

    def given(self, position: int, name: str) -> Value:
        """The argument in a place or of a name."""
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, UNKNOWN)

    def on(self, receiver: Value) -> Call:
        """The same call of a method, with its object in front."""
        return Call((receiver, *self.args), self.kwargs, self.node)

    def bound(self, operation: Operation) -> Bound:
        """The arguments by the parameters of an entry of the operation table."""
        return Bound.of(operation, self.args, self.kwargs)
