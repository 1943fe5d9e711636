"""Values that runtime facts recorded, and what they leave of the values that the source gives."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.source.index import Function
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.observed import attribute_of, met_by, value_of, variable_of
from syncscan.check.prove.settled import settled_bindings
from syncscan.check.prove.source import Definitions
from syncscan.check.prove.uses import owners_set
from syncscan.check.prove.values import BOTTOM, TOP, AbstractValue, join_all
from syncscan.facts import Observed

_FACTS = "values are in every call what the runtime facts say"


class Recorded:
    """The runtime facts of a proof, which then rests on them."""

    def __init__(self, source: Definitions, assumptions: Assumptions) -> None:
        self._source = source
        self._observations = source.observations
        self._assumptions = assumptions
        self._settled: dict[Function, frozenset[ast.Name]] = {}

    def seen(self, function: Function, name: str) -> AbstractValue | None:
        """Return everything that a parameter, an attribute of the object, or a result was seen to be.

        Anything where a part of it is open; None where nothing was seen.
        """
        observed = self._of(function)
        found = None if observed is None else value_of(observed, name, self._source.class_named)
        if found is not None:
            self._assumptions.used[_FACTS] = None
        return found

    def met(self, value: AbstractValue, functions: Iterable[Function], name: str) -> AbstractValue:
        """Return a value, narrowed where it is open by what a name was seen to be in some functions."""
        if not self._observations.has_recorded:
            return value
        found = [seen for each in functions if (seen := self.seen(each, name)) is not None]
        return self._narrowed(value, join_all(found)) if found and TOP not in found else value

    def met_by_attribute(self, function: Function, name: str, value: AbstractValue) -> AbstractValue:
        """Return the value of an attribute of a parameter, narrowed by what ``parameter.attribute`` was seen to be.

        BOTTOM stands for an attribute that was absent in every call.
        """
        observed = self._of(function)
        seen = None if observed is None else attribute_of(observed, name, self._source.class_named)
        if seen is BOTTOM and any(True for _ in owners_set(function.node, name.rpartition(".")[2])):
            return value  # the function may set it for a while
        return self._narrowed(value, seen)

    def met_by_variable(self, function: Function, target: ast.Name, value: AbstractValue) -> AbstractValue:
        """Return what an assignment binds, narrowed by what the name was seen to be at the end of calls, if it keeps the value."""
        observed = self._of(function)
        if observed is None or value is BOTTOM:
            return value
        if function not in self._settled:
            self._settled[function] = settled_bindings(function.node)
        if target not in self._settled[function]:
            return value
        return self._narrowed(value, variable_of(observed, target.id, self._source.class_named))

    def _of(self, function: Function) -> Observed | None:
        return self._observations.recorded(function)

    def _narrowed(self, value: AbstractValue, seen: AbstractValue | None) -> AbstractValue:
        """Return a value that facts may have narrowed; then the proof rests on them."""
        met = value if seen is None or seen is TOP else met_by(value, seen)
        if met is not value:
            self._assumptions.used[_FACTS] = None
        return met
