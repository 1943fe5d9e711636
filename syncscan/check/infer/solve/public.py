"""Abstract values as rules see them, each with the reason of its place, which is looked for when it is asked for."""

from __future__ import annotations

from typing import Any, Protocol

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.model import UNKNOWN, Evidence, Kind, Value


class Explain(Protocol):
    """Looks for the reason of a value."""

    def __call__(self) -> tuple[Evidence | None, tuple[Evidence, ...]]:
        """Return the chain, and where else the value is passed to its function."""

    def revision(self) -> int:
        """Return a number that changes with the project."""


class LazyEvidence(Evidence):
    """The first step of a chain that is looked for when it is first asked for, and again when the project has changed."""

    __slots__ = ("_explain", "_found", "_others", "_revision")

    def __init__(self, explain: Explain) -> None:
        object.__setattr__(self, "_explain", explain)  # frozen, like all evidence
        object.__setattr__(self, "_revision", -1)

    @property
    def found(self) -> Evidence | None:
        """Return the chain; None where nothing is known of the reason."""
        self._look()
        known: Evidence | None = self._found
        return known

    @property
    def others(self) -> tuple[Evidence, ...]:
        """Return where else the value is passed to the function in which it is."""
        self._look()
        known: tuple[Evidence, ...] = self._others
        return known

    def _look(self) -> None:
        revision = self._explain.revision()
        if self._revision != revision:
            found, others = self._explain()
            object.__setattr__(self, "_found", found)
            object.__setattr__(self, "_others", others)
            object.__setattr__(self, "_revision", revision)

    def __getattribute__(self, name: str) -> Any:
        if name not in _OF_A_STEP:
            return object.__getattribute__(self, name)
        found = self.found
        return getattr(found, name) if found is not None else _OF_A_STEP[name]


_OF_A_STEP = {"path": "", "line": 0, "text": "", "parent": None, "cell": 0}


def public(value: AbstractValue, evidence: Evidence | None = None) -> Value:
    """Return a value in the vocabulary of rules."""
    if value.kind is Kind.UNKNOWN:
        return UNKNOWN
    payload = None if isinstance(value.payload, (BoundMethod, Partial)) else value.payload
    items = None if value.items is None else tuple([public(each, evidence) for each in value.items])
    element = None if value.element is None else public(value.element, evidence)
    return Value(
        value.kind, value.device, value.confidence, value.pinned, value.dtype, value.ndim, payload, items, element,
        evidence, value.count,
    )  # fmt: skip
