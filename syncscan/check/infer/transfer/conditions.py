"""The conditions of the operation table, evaluated on inferred values: true, false, or None for unknown."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from syncscan.model import UNKNOWN, Confidence, Device, Kind
from syncscan.ops import Case, Condition, Effect, Operation, Term, by_parameter
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import Verdict, asks

_ABOUT_GPU = frozenset({"on gpu", "holds gpu", "holds mask gpu", "holds index gpu", "names gpu"})

_COPIES = frozenset({Effect.UPLOAD, Effect.DOWNLOAD})
_LARGEST_NUMBER = 16  # bytes: complex128


class Bound(NamedTuple):
    """A call of a known operation, with the arguments by the parameters of its entry in the table.

    A starred parameter has several values, and so has the index of a subscript.
    """

    operation: Operation
    values: dict[str, tuple[Any, ...]]  # of the vocabulary, or abstract ones
    rest: tuple[Any, ...] = ()

    @classmethod
    def of(cls, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """Bind the arguments of a call."""
        values, rest = by_parameter(operation.args, args, kwargs)
        return cls(operation, values, rest)

    def get(self, name: str) -> Any:
        """Return the first value of a parameter, or None where the call omits the argument."""
        values = self.values.get(name)
        return values[0] if values else None

    def operands(self) -> tuple[Any, ...]:
        """Return all arguments, but not the ``out`` that the operation writes."""
        given = (values for name, values in self.values.items() if name != "out")
        return (*chain.from_iterable(given), *self.rest)


def blocking_case(bound: Bound) -> Case | None:
    """Return the first case that certainly blocks the CPU, or None.

    A size condition counts as true where the size is unknown: the message of a copy says so, and other limits
    are a few numbers. The exception is a result whose shape depends on data, such as ``isin``, because most
    operands are small. Copying a tensor without elements does not block.
    """
    if _compares_keys(bound):
        return None
    for case in bound.operation.blocks:
        unknown_is_large = None if case.effect is Effect.SHAPE else True
        if _all_hold(case.when, bound, unknown_is_large) is True and not _may_be_off(case, bound):
            return None if case.effect in _COPIES and _copies_nothing(bound) else case
    return None


def _may_be_off(case: Case, bound: Bound) -> bool:
    """Return whether the exception to a case may hold; argument checks count as on unless they are surely off."""
    if not case.unless:
        return False
    verdict = _all_hold(case.unless, bound)
    return verdict is True or (verdict is None and case.effect is not Effect.CHECK)


def queued_case(bound: Bound) -> Case | None:
    """Return the case of a copy that would block without its ``non_blocking=True``, or None."""
    for case in bound.operation.blocks:
        if case.effect in _COPIES and case.unless and _all_hold(case.when, bound) is True:
            return case if _all_hold(case.unless, bound) is True and not _copies_nothing(bound) else None
    return None


def _compares_keys(bound: Bound) -> bool:
    """Return whether a call such as ``sorted(rows, key=f)`` compares the results of a function and not the elements."""
    key = bound.get("key") if bound.operation.name.startswith("builtins.") else None
    return key is not None and key.kind is not Kind.NONE


def _copies_nothing(bound: Bound) -> bool:
    """Return whether the first operand, which is copied, certainly has no elements."""
    names = bound.operation.args[:1]
    copied = [option for name in names for value in bound.values.get(name, ()) for option in value.options]
    return bool(copied) and all(option.kind is Kind.TENSOR and elements_of(option) == 0 for option in copied)


def elements_of(value: Any) -> int | None:
    """Return the number of elements of a tensor, or None; one that comes from elsewhere need not be empty in each run."""
    is_made_here = value.confidence > Confidence.INFERRED and value.device is not Device.UNKNOWN
    count: int | None = value.count
    return count if count or is_made_here else None


def in_form(bound: Bound) -> Bound:
    """Return the call with the entry for its form, such as ``torch.where`` with a condition alone."""
    for form in bound.operation.forms:
        if _all_hold(form.when, bound) is True:
            operation = replace(bound.operation, **dict(form.fields))  # type: ignore[arg-type]
            return bound._replace(operation=operation)
    return bound


@functools.cache
def needs_no_gpu_operand(operation: Operation) -> bool:
    """Return whether an operation can block without a GPU operand, as ``t.cuda()`` or an explicit synchronization can."""
    return any(
        not any(term.kind and asks(term.kind, _ABOUT_GPU) for term in case.when) for case in operation.blocks
    )


def _all_hold(condition: Condition, bound: Bound, unknown_is_large: Verdict = True) -> Verdict:
    verdict: Verdict = True
    for term in condition:
        one = _holds(term, bound, unknown_is_large)
        if one is False:
            return False
        verdict = None if one is None else verdict
    return verdict


def _holds(term: Term, bound: Bound, unknown_is_large: Verdict) -> Verdict:
    values = bound.operands() if term.arg == "any" else bound.values.get(term.arg, ())
    values = tuple(value for value in values if value.kind is not Kind.NONE)
    if term.test == "given":
        return bool(values) is not term.negated
    if not values and bound.operation.result == "device" and term.kind and asks(term.kind, {"names"}):
        values = (bound.get("default device") or UNKNOWN,)
    verdicts = [_test(term, value, unknown_is_large) for value in values]
    found: Verdict = True if True in verdicts else None if None in verdicts else False
    return found if found is None else found is not term.negated


def _test(term: Term, value: Any, unknown_is_large: Verdict) -> Verdict:
    if term.test == "bytes":
        count = 1 if value.ndim == 0 else elements_of(value)
        if count is None or value.kind is not Kind.TENSOR:
            return unknown_is_large
        return term.size < count * _LARGEST_NUMBER
    return is_of(term.kind, value)
