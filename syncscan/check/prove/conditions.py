"""The conditions of the operation table, on values that may be anything: a case counts unless a known fact excludes it."""

from __future__ import annotations

import functools
from itertools import chain

from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.prove.values import BOTTOM, HOST, NO_TENSOR, NONE, TOP, AbstractValue, may_hold_gpu
from syncscan.model import MASKS, Device, Kind
from syncscan.ops.inferred import FACTS, Inferred, kind_of_element
from syncscan.ops.kinds import Test, TestMakers, Verdict, asks, test_of
from syncscan.ops.table import Case, Condition, Term

_OF_TENSORS = frozenset({"on", "is tensor"})
_OF_LAYOUTS = frozenset(
    {"sparse", "coo", "coalesced", "uncoalesced", "compressed", "hybrid", "csr", "csc", "bsr", "bsc", "blocked"}
)  # fmt: skip
_LARGEST_NUMBER = 16  # bytes: complex128


def possible_case(bound: Bound, *, dense: bool = False) -> Case | None:
    """Return the first case that nothing excludes, those among them that were measured to block in some calls only.

    Conditions about other layouts do not hold where every tensor of a project is ``dense``.
    """
    for case in chain(bound.operation.blocks, bound.operation.sometimes):
        holds = verdict_of(case.when, bound, dense=dense)
        if holds is not False and not (case.unless and verdict_of(case.unless, bound, dense=dense) is True):
            return case
    return None


def verdict_of(condition: Condition, bound: Bound, *, dense: bool = False) -> Verdict:
    """Return whether a condition holds; None where that is not known."""
    verdict: Verdict = True
    for term in condition:
        one = _holds(term, bound, dense=dense)
        if one is False:
            return False
        verdict = None if one is None else verdict
    return verdict


def _holds(term: Term, bound: Bound, *, dense: bool) -> Verdict:
    if dense and term.kind in _OF_LAYOUTS:
        return term.negated
    values = bound.operands() if term.arg == "any" else bound.values.get(term.arg, ())
    if term.test == "given":
        found = _any_of([_is_given(value) for value in values])
    else:
        if not values and bound.operation.result == "device" and term.kind and asks(term.kind, {"names"}):
            values = (bound.get("default device") or NONE,)
        found = _any_of([_verdict(term, value) for value in values if value is not NONE])
    return found if found is None else found is not term.negated


def _any_of(verdicts: list[Verdict]) -> Verdict:
    return True if True in verdicts else None if None in verdicts else False


def _is_given(value: AbstractValue) -> Verdict:
    if value.kind is Kind.UNION:
        return None if NONE in (value.items or ()) else True
    return None if value.kind is Kind.UNKNOWN else value is not NONE


def _verdict(term: Term, value: AbstractValue) -> Verdict:
    if term.test == "bytes":
        count = value.count if value.kind is Kind.TENSOR else None
        return None if count is None else term.size < count * _LARGEST_NUMBER
    verdicts = {_of_option(term.kind, option) for option in _options(value)}
    return verdicts.pop() if len(verdicts) == 1 else None


def _options(value: AbstractValue) -> tuple[AbstractValue, ...]:
    return (value.items or ()) if value.kind is Kind.UNION else (value,)


def _of_option(kind: str, value: AbstractValue) -> Verdict:
    if value is NONE:
        return False
    if value is NO_TENSOR or value is HOST:  # which may be a number, or a list of numbers
        return False if asks(kind, _OF_TENSORS) else None
    if value is TOP or value is BOTTOM:
        return None
    return _test_of(kind)(value)


def _index() -> Test[Inferred]:
    """Return a test that knows an index by its dtype and its dimensions alone."""

    def test(value: Inferred) -> Verdict:
        if value.kind is not Kind.TENSOR:
            return None if value.kind is Kind.UNKNOWN else False
        if value.dtype in MASKS or value.ndim == 0:
            return False
        return None if value.dtype is None or value.ndim is None else True

    return test


def _names(place: str) -> Test[Inferred]:
    """Return a test of the device that an argument names; a tensor names its own: ``module.to(x)``."""
    of_device, of_tensor = FACTS["names"](place), FACTS["on"](place)
    return lambda value: of_tensor(value) if value.kind is Kind.TENSOR else of_device(value)


def _of_layout(*_: str) -> Test[Inferred]:
    """Return a test that knows no layout of a tensor."""
    return lambda value: None if value.kind in {Kind.TENSOR, Kind.UNKNOWN} else False


def _of_inside(what: str, place: str = "") -> Test[Inferred]:
    if place:
        return functools.partial(_has_inside, kind_of_element(what, place))

    def test(value: Inferred) -> Verdict:
        if value.kind is Kind.UNKNOWN:
            return None
        if value.kind not in {Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT, Kind.SLICE}:
            return False
        assert isinstance(value, AbstractValue)
        inside = value.items if value.items is not None else (value.element or TOP,)
        if not inside:  # nothing is copied
            return False
        if any(each.kind is Kind.TENSOR and each.device is Device.CUDA for each in inside):
            return what == "gpu"
        return None if may_hold_gpu(value) else what == "host"

    return test


def _has_inside(kind: str, value: Inferred) -> Verdict:
    """Return whether a tensor of a kind is among the elements of a value, at any depth."""
    if value.kind is Kind.UNKNOWN or value.kind is Kind.UNION:
        return None
    if value.kind not in {Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT}:
        return False
    assert isinstance(value, AbstractValue)
    verdicts: set[Verdict] = set()
    for each in value.items if value.items is not None else (value.element or TOP,):
        verdicts |= {_has_inside(kind, each), *(_of_option(kind, option) for option in _options(each))}
    return True if True in verdicts else None if None in verdicts else False


_STRICT: TestMakers[Inferred] = {
    **FACTS,
    "index": _index,
    "names": _names,
    "layout": _of_layout,
    "coalesced": _of_layout,
    "hybrid": _of_layout,
    "holds": _of_inside,
}


@functools.cache
def _test_of(kind: str) -> Test[Inferred]:
    return test_of(kind, _STRICT)
