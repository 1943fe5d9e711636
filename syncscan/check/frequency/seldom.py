"""The functions that run once: by their names, in one that does, or because all of their calls run once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from syncscan.check.frequency.calls import Called, called_name
from syncscan.check.frequency.closures import defined_in
from syncscan.check.frequency.lines import Frequencies
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.model import When


def note_once(found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]) -> None:
    """Record the functions that run once by their names; tests are those that no function calls."""
    frequency = found.cache.by_function
    once = [
        function
        for function in functions
        if function not in found.step
        and (
            function in found.cached
            or (
                frequency[function].is_once
                if function in found.generating
                else frequency[function].may_be_once
            )
            or (frequency[function].is_named_test and not callers.get(function, ()))
        )
    ]
    found.once.update(once)
    found.programs.update(function for function in once if frequency[function].starts_a_program)


def close_over_once(
    found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]
) -> None:
    """Record the functions that run once because they are defined in one that does, or because all callers run once.

    A call behind a guard counts as running once. A function without callers, such as a test helper, is no
    evidence about its callees.
    """
    by_function = found.cache.by_function
    guards = [function for function in functions if found.called_at(function, When.ONCE)]
    queue = deque((*found.once, *guards))
    while queue:
        caller = queue.popleft()
        defined = (
            [each for each in defined_in(caller) if not by_function[each].is_handed_out]
            if caller in found.once
            else []
        )
        for callee in (*defined, *_called_once_by(found, caller)):
            if callee in found.once or callee in found.step or callee in found.generating:
                continue
            starts = callee in defined and caller not in found.programs
            if starts or _is_called_once(found, callee, callers):
                found.once.add(callee)
                if not found.programs.isdisjoint(callers.get(callee, ())):
                    found.programs.add(callee)
                queue.append(callee)


def _called_once_by(found: Frequencies, caller: Called) -> Iterable[Called]:
    """Return the callees of a function that runs once, or those behind its guards."""
    if caller in found.once:
        return found.from_(caller)
    return found.called_at(caller, When.ONCE) if isinstance(caller, Function) else ()


def _is_called_once(found: Frequencies, callee: Called, callers: dict[Called, set[Called]]) -> bool:
    """Return whether all calls of a function run once; a guard says too little about one that may run a model."""
    frequency = found.frequency(callee)
    if frequency is not None and frequency.answers_users:
        return False
    runs = _runs(found, callee)
    return all(
        by is callee
        or (
            not _repeats(found, by, callee)
            and (by in found.once or (by not in callers and not _runs(found, by)))
        )
        or (not runs and isinstance(by, Function) and callee in found.called_at(by, When.ONCE))
        for by in callers.get(callee, ())
    )


def _runs(found: Frequencies, caller: Called) -> bool:
    """Return whether users may run a model with this function, which the project itself never calls."""
    frequency = found.frequency(caller)
    return frequency is not None and frequency.may_run_a_model


def _repeats(found: Frequencies, caller: Called, callee: Called) -> bool:
    """Return whether a caller calls ``callee`` in a loop that may serve.

    In a program each loop may, elsewhere a `while` loop and a loop that runs a model.
    """
    if isinstance(caller, Virtual):
        return False
    if caller in found.programs:
        return callee in found.called_at(caller, When.UNKNOWN)
    return any(called_name(callee) in loop.calls for loop in found.cache.loops[caller])
