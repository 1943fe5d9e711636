"""Abstract values in the form that rules receive, with provenance that is computed on demand."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.model import UNKNOWN, Evidence, Kind, Value


class Reasons(NamedTuple):
    """The provenance of a value: the first step of a chain, or None.

    ``passed_too`` lists other call sites that pass the value to the same function. ``rests_on`` has the
    functions and cells on which the chain depends, as of ``revision``.
    """

    found: Evidence | None
    passed_too: tuple[Evidence, ...]
    rests_on: frozenset[object]
    revision: int


class Explain(Protocol):
    """A function that computes the provenance of one value."""

    def __call__(self) -> Reasons:
        """Return the provenance."""

    def current(self, reasons: Reasons) -> Reasons | None:
        """Return the provenance with the lines of now, or None where anything that it depends on has changed since."""


class LazyEvidence(Evidence):
    """The first step of a chain, computed on first access, and again after a change to anything the chain depends on.

    The object is false where no chain exists.
    """

    __slots__ = ("_known", "explain")

    explain: Explain

    def __init__(self, explain: Explain, known: Reasons | None = None) -> None:
        object.__setattr__(self, "explain", explain)  # frozen, like all evidence
        object.__setattr__(self, "_known", known)

    def __bool__(self) -> bool:
        return self.found is not None

    @property
    def reasons(self) -> Reasons:
        """The current provenance."""
        before: Reasons | None = self._known
        known = None if before is None else self.explain.current(before)
        if known is None:
            known = self.explain()
        if known is not before:
            object.__setattr__(self, "_known", known)
        return known

    @property
    def found(self) -> Evidence | None:
        """The first step of the chain, or None."""
        return self.reasons.found

    def __getattribute__(self, name: str) -> Any:
        if name not in _OF_A_STEP:
            return object.__getattribute__(self, name)
        found = self.found
        return getattr(found, name) if found is not None else _OF_A_STEP[name]


_OF_A_STEP = {"path": "", "line": 0, "text": "", "parent": None, "cell": 0}


def public(value: AbstractValue, evidence: Evidence | None = None) -> Value:
    """Return the `syncscan.model.Value` of an abstract value, with ``evidence`` on each of its parts."""
    if value.kind is Kind.UNKNOWN:
        return UNKNOWN
    payload = None if isinstance(value.payload, (BoundMethod, Partial)) else value.payload
    items = None if value.items is None else tuple([public(each, evidence) for each in value.items])
    element = None if value.element is None else public(value.element, evidence)
    return Value(
        value.kind, value.device, value.confidence, value.pinned, value.dtype, value.ndim, payload, items, element,
        evidence, value.count,
    )  # fmt: skip
