"""Functions that callers pass GPU values only inside allowed regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.source.index import Function, Virtual

Callee = Function | Virtual
Callers = dict[Callee, dict[Function, Called]]


def only_in_allowed_regions(callees: Mapping[Function, Mapping[Callee, Called]]) -> set[Function]:
    """Return the functions that are called in allowed regions, and elsewhere without GPU values."""
    callers = callers_of(callees)
    found: set[Callee] = set()
    ahead = [callee for callee, by in callers.items() if _ALLOWED.intersection(by.values())]
    while ahead:
        callee = ahead.pop()
        if callee in found or not _is_meant(callers[callee], found):
            continue
        found.add(callee)
        for called in callees.get(callee, ()) if isinstance(callee, Function) else ():
            ahead += run_by(called)
    return {callee for callee in found if isinstance(callee, Function)}


_ALLOWED = frozenset(how | Called.ALLOWED for how in (Called.WITHOUT_GPU, Called.WITH_GPU))


def run_by(callee: Callee) -> Iterable[Callee]:
    """Return a callee, and the methods of subclasses that it stands for."""
    return (callee, *callee.below) if isinstance(callee, Virtual) else (callee,)


def callers_of(callees: Mapping[Function, Mapping[Callee, Called]]) -> Callers:
    """Return the callers of each callee, with how they call it."""
    callers: Callers = {}
    for caller, called in callees.items():
        for callee, how in called.items():
            for each in run_by(callee):
                by = callers.setdefault(each, {})
                known = by.get(caller, how)
                by[caller] = how if known is how else known | how
    return callers


def _is_meant(by: Mapping[Function, Called], found: set[Callee]) -> bool:
    """Return whether every call of a function is allowed to block, and one call is in an allowed region."""
    hows = [Called.ALLOWED if caller in found else how for caller, how in by.items()]
    return any(Called.ALLOWED in how for how in hows) and not any(Called.WITH_GPU in how for how in hows)
