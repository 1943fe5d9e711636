"""What is known of a file's definitions while the file has not been read: it is read when one is asked for its nodes.

They are classes of their own, which what is read ceases to be: an attribute of an object whose class has a
`__getattr__` takes several times as long to look up, be it there or not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.source.index import Class, Function, Module

_OF_A_STATE = frozenset({"granted", "ir", "reads", "told", "uses", "values"})
_OF_PARAMETERS = frozenset({"by_name", "more", "parameters", "plain", "rest"})


class UnreadFunction(Function):
    """A function without its nodes, and mostly without its parameters."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Its key is given to it."""

    def __getattr__(self, name: str) -> Any:
        """What only the file says, and the parameters, which what is kept of it says."""
        if name in _OF_PARAMETERS and self.module.unread is not None:
            self.module.unread.give(self)
            return getattr(self, name)
        if name in {"node", "statement"} and self.module.read():
            return getattr(self, name)
        raise AttributeError(name)

    @property
    def result(self) -> ast.expr | None:
        """What is declared of the result; for one of which nothing is, the file is not read."""
        unread = self.module.unread
        if unread is not None and self in unread.without_result:
            return None
        return getattr(self.node, "returns", None)


class UnreadClass(Class):
    """A class without its nodes."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Its key is given to it."""

    def annotates(self, name: str) -> bool:
        """Whether the body of the class says what an attribute is."""
        unread = self.module.unread
        return name in (self.annotations if unread is None else unread.annotated[self])

    def __getattr__(self, name: str) -> Any:
        """What only the file says."""
        if name in {"node", "annotations"} and self.module.read():
            return getattr(self, name)
        raise AttributeError(name)


class UnreadState(State):
    """The state of a function of which not all has been asked for: its values, and its instructions."""

    __slots__ = ()

    def __init__(
        self, function: Function, base: int, size: int, order: int, fill: Callable[[State, str], None]
    ) -> None:
        """``fill`` gives it its values with the cells that it read and contributed to, or its instructions, by the name of these."""
        self.function, self.base, self.size, self.order = function, base, size, order
        self.is_queued = self.is_replayed = False
        self.due = None
        self.blocking, self.open = {}, {}
        self.fill = fill

    def __getattr__(self, name: str) -> Any:
        """What has not been asked for yet."""
        if name not in _OF_A_STATE:
            raise AttributeError(name)
        self.fill(self, name)
        return getattr(self, name)


class UnreadModule(Module):
    """A module without its tree; for its lines and its aliases alone, it is not read."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """What only the file says."""
        if name == "lines" and self.unread is not None:
            self.lines = self.unread.lines()
        elif name == "aliases" and self.unread is not None:
            self.aliases = self.unread.aliases()
        elif name != "tree" or not self.read():
            raise AttributeError(name)
        return getattr(self, name)
