"""Abstract values as rules see them, each with the reason of its place, which is looked for when it is asked for."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.model import UNKNOWN, Evidence, Kind, Value


class Reasons(NamedTuple):
    """Why a value is where it is: the first step of a chain, None where nothing is known of it.

    ``passed_too`` has where else the value is passed to the function in which it is; ``rests_on`` the functions, files and
    cells that say so, as they were in a revision of the project.
    """

    found: Evidence | None
    passed_too: tuple[Evidence, ...]
    rests_on: frozenset[object]
    revision: int


class Explain(Protocol):
    """Looks for the reasons of a value."""

    def __call__(self) -> Reasons:
        """Return them."""

    def holds(self, reasons: Reasons) -> bool:
        """Return whether nothing on which they rest has changed since."""


class LazyEvidence(Evidence):
    """The first step of a chain that is looked for when it is first asked for, and again when what it rests on has changed.

    It is false where nothing is known of the reason.
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
        """Return the reasons as they are now."""
        known: Reasons | None = self._known
        if known is None or not self.explain.holds(known):
            known = self.explain()
            object.__setattr__(self, "_known", known)
        return known

    @property
    def found(self) -> Evidence | None:
        """Return the chain; None where nothing is known of the reason."""
        return self.reasons.found

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
