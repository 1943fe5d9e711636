"""Definitions of a file that is not parsed yet; the first access to a syntax node parses the file.

These are separate classes, and a parsed object changes its class. An attribute lookup takes several times as
long in a class with a `__getattr__`, even for existing attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.source.index import Class, Function, Module

_OF_A_STATE = frozenset({"ir", "reads", "told", "uses", "values"})
_OF_PARAMETERS = frozenset({"by_name", "more", "parameters", "plain", "rest"})


class UnreadFunction(Function):
    """A function without its nodes, and usually without its parameters."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Do nothing: the key comes from the serialised data."""

    def __getattr__(self, name: str) -> Any:
        """Restore the parameters from serialised data, or the nodes by parsing the file."""
        if name in _OF_PARAMETERS and self.module.unread is not None:
            self.module.unread.give(self)
            return getattr(self, name)
        if name in {"node", "statement"} and self.module.read():
            return getattr(self, name)
        raise AttributeError(name)

    @property
    def result(self) -> ast.expr | None:
        """The declared annotation of the result; a function known to have none does not parse the file."""
        unread = self.module.unread
        if unread is not None and self in unread.without_result:
            return None
        return getattr(self.node, "returns", None)


class UnreadClass(Class):
    """A class without its nodes."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Do nothing: the key comes from the serialised data."""

    def annotates(self, name: str) -> bool:
        """Return whether the body of the class annotates an attribute."""
        unread = self.module.unread
        return name in (self.annotations if unread is None else unread.annotated[self])

    def __getattr__(self, name: str) -> Any:
        """Restore the nodes by parsing the file."""
        if name in {"node", "annotations"} and self.module.read():
            return getattr(self, name)
        raise AttributeError(name)


class UnreadState(State):
    """The state of a function whose values or instructions have not been restored yet."""

    __slots__ = ()

    def __init__(self, function: Function, base: int, size: int, fill: Callable[[State, str], None]) -> None:
        """Take ``fill``, which restores the attribute of a given name: the values with their cells, or the instructions."""
        self.function, self.base, self.size = function, base, size
        self.is_queued = self.is_replayed = False
        self.due = None
        self.blocking, self.open = {}, {}
        self.fill = fill

    def __getattr__(self, name: str) -> Any:
        """Restore an attribute on its first access."""
        if name not in _OF_A_STATE:
            raise AttributeError(name)
        self.fill(self, name)
        return getattr(self, name)


class UnreadModule(Module):
    """A module without its tree; access to its lines or aliases alone does not parse the file."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Restore the lines or aliases from serialised data, or the tree by parsing the file."""
        if name == "lines" and self.unread is not None:
            self.lines = self.unread.lines()
        elif name == "aliases" and self.unread is not None:
            self.aliases = self.unread.aliases()
        elif name != "tree" or not self.read():
            raise AttributeError(name)
        return getattr(self, name)
