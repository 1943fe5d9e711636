"""The findings of a walk of one function: obstacles, calls, and the values returned, bound and stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from syncscan.check.infer.source.index import Function
from syncscan.check.prove.answer import Group
from syncscan.check.prove.values import BOTTOM, TOP, AbstractValue, join

RESULT = ""  # the name of the result among those of variables


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
    call_lines: dict[Function, set[int]] = field(default_factory=dict)
    passed: dict[Function, dict[tuple[int, int], dict[str, AbstractValue]]] = field(default_factory=dict)
    returned: AbstractValue = BOTTOM
    swallows: bool = False  # a generator goes on behind an exception that is raised at its ``yield``
    bound: dict[str, AbstractValue] = field(default_factory=dict)  # every value that a name is bound to
    stored: dict[str, list[tuple[AbstractValue, AbstractValue]]] = field(default_factory=dict)
    filled: dict[str, list[tuple[AbstractValue, AbstractValue]]] = field(default_factory=dict)
    assumed: dict[str, None] = field(default_factory=dict)  # the premises of the walk, for the certificate

    is_partial: bool = (
        False  # a value that the walk read was not computed yet, so code behind it may be missing
    )
    is_open: bool = False  # the function may return, bind and store anything

    @property
    def summary(self) -> tuple[object, ...]:
        """Return the part that readers see."""
        return (
            self.returned, self.swallows, self.bound, self.stored, self.filled, self.passed, self.is_partial
        )  # fmt: skip

    @property
    def lacks(self) -> bool:
        """Return whether readers see that a value is not computed, or that the function returns nothing."""
        return self.is_partial or self.returned is BOTTOM or BOTTOM in self.bound.values()

    @property
    def missing(self) -> frozenset[str]:
        """Return the names without a value, `RESULT` for the result."""
        return frozenset(
            name for name, value in {**self.bound, RESULT: self.returned}.items() if value is BOTTOM
        )

    def settled(self, names: frozenset[str]) -> Walk:
        """Return the walk with anything for some names, and for all that has no value."""
        opened = dict.fromkeys(names | self.missing, TOP)
        returned = opened.pop(RESULT, self.returned)
        passed = {
            function: {
                lines: {name: TOP if value is BOTTOM else value for name, value in values.items()}
                for lines, values in calls.items()
            }
            for function, calls in self.passed.items()
        }
        return Walk(
            self.function, self.obstacles, self.call_lines, passed, returned, self.swallows, {**self.bound, **opened},
            self.stored, self.filled, self.assumed,
        )  # fmt: skip

    def open(self) -> Walk:
        """Return the walk of a function that may return, bind and store anything."""
        self.is_open, self.is_partial, self.returned, self.bound, self.passed = True, False, TOP, {}, {}
        self.swallows, self.stored = True, _Anything()
        self.filled = self.stored
        return self

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
        return self.bound.get(name, BOTTOM if self.is_partial else TOP)


class _Anything(dict[str, list[tuple[AbstractValue, AbstractValue]]]):
    """The stores of a function that could not be followed: anything, anywhere."""

    def get(self, _key: str, _default: object = None) -> Any:
        """Return a store of anything into anything."""
        return [(TOP, TOP)]
