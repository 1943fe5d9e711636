"""The findings of a walk of one function: obstacles, calls, and the values returned, bound and stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from syncscan.check.infer.source.index import Function
from syncscan.check.prove.values import BOTTOM, TOP, AbstractValue, join


class Group(Enum):
    """The certainty that an obstacle blocks."""

    SYNCHRONIZES = "synchronizes"
    MAY = "may synchronize"
    UNKNOWN = "unknown callee"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class SourceRange:
    """A range of a file; lines and columns from 1 on, the end column exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A place that keeps an entry point from being free of synchronization, and the fact that would exclude it."""

    group: Group
    place: SourceRange
    function: str
    expression: str
    reason: str
    fact: str = ""


@dataclass(slots=True)
class Walk:
    """One function, walked."""

    function: Function
    obstacles: dict[tuple[SourceRange, Group], Obstacle] = field(default_factory=dict)
    calls: dict[Function, int] = field(default_factory=dict)  # and the line of the first call
    call_lines: dict[Function, set[int]] = field(default_factory=dict)
    passed: dict[Function, dict[tuple[int, int], dict[str, AbstractValue]]] = field(default_factory=dict)
    returned: AbstractValue = BOTTOM
    yielded: AbstractValue = BOTTOM
    bound: dict[str, AbstractValue] = field(default_factory=dict)  # every value that a name is bound to
    stored: dict[str, list[tuple[AbstractValue, AbstractValue]]] = field(default_factory=dict)
    filled: dict[str, list[tuple[AbstractValue, AbstractValue]]] = field(default_factory=dict)
    assumed: dict[str, None] = field(default_factory=dict)  # the premises of the walk, for the certificate

    def passes(self, function: Function, lines: tuple[int, int], values: dict[str, AbstractValue]) -> None:
        """Note the values that a call passes to parameters; unnamed parameters get an unknown value."""
        calls = self.passed.setdefault(function, {})
        before = calls.get(lines, values)
        calls[lines] = {name: join(before[name], value) for name, value in values.items() if name in before}

    def passed_at(self, function: Function, name: str, line: int) -> list[AbstractValue]:
        """Return the values that the calls at a line pass to a parameter of a function."""
        calls = self.passed.get(function, {})
        return [values.get(name, TOP) for (first, last), values in calls.items() if first <= line <= last]

    def binds(self, name: str) -> AbstractValue:
        """Return every value that a name is bound to."""
        return self.bound.get(name, TOP)
