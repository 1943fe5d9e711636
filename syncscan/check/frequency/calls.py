"""The call graph of a project, whose nodes are functions and virtual methods."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from syncscan.check.frequency.guards import CONSTRUCTORS
from syncscan.check.infer.source.index import Function, Virtual

Called = Function | Virtual


def callers_of(
    functions: Iterable[Function], callees: Callable[[Called], Iterable[Called]]
) -> dict[Called, set[Called]]:
    """Return the callers of each function; a virtual method is a caller of its implementations."""
    callers: dict[Called, set[Called]] = {}
    to_come: deque[Called] = deque(functions)
    while to_come:
        caller = to_come.popleft()
        for callee in callees(caller):
            if callee not in callers and isinstance(callee, Virtual):
                to_come.append(callee)
            callers.setdefault(callee, set()).add(caller)
    return callers


def closure(starts: Iterable[Called], beside: Callable[[Called], Iterable[Called]]) -> set[Called]:
    """Return some functions, and those that calls lead to, in the direction of ``beside``."""
    found: set[Called] = set()
    queue = deque(starts)
    while queue:
        called = queue.popleft()
        if called not in found:
            found.add(called)
            queue += beside(called)
    return found


def called_name(called: Called) -> str:
    """Return the name at the call site: for a constructor, that of the class."""
    if isinstance(called, Function) and called.name in CONSTRUCTORS and called.owner:
        return called.owner.name
    return called.name
