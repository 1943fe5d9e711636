"""When a line runs: in every step, once, in tests, or it cannot be told; followed through the calls.

A step begins at its roots: the entry points that the settings name, or else what a framework calls for each
batch (`is_step`), loops that train or read batches, and the loops of what runs many steps for one request
(`is_generation`), which itself is no step. What is called from there runs in a step, but for what
is known by its name to run once, such as loading, and what a guard such as ``if self._x is None`` runs once.
What is not reached, and is only called from where things run once, runs once. The loops of a program's own start,
and of what it calls, are neither: what they call may be a step by another name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from syncscan.check.files import is_test
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.hardware import runs_on_other_hardware
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.check.rhythm import (
    Region,
    is_generation,
    is_once,
    is_step,
    loops_of,
    may_be_once,
    regions_of,
    starts_a_program,
)
from syncscan.errors import ConfigError, suggestion
from syncscan.model import When

Chain = tuple[str, ...]
Called = Function | Virtual


@dataclass(slots=True)
class Regions:
    """What is read of the source of functions, once: the regions of each, and the loops of those that generate."""

    of: dict[Function, tuple[Region, ...]] = field(default_factory=dict)
    loops: dict[Function, tuple[Region, ...]] = field(default_factory=dict)

    def forget(self, paths: Container[str]) -> None:
        """Forget the functions of some files."""
        for known in (self.of, self.loops):
            for function in [each for each in known if each.module.path in paths]:
                del known[function]


@dataclass(slots=True)
class Times:
    """For each function when it runs, and through which calls a step reaches it."""

    callees: dict[Function, list[Called]]
    step: dict[Called, Chain] = field(default_factory=dict)
    once: set[Called] = field(default_factory=set)
    programs: set[Called] = field(default_factory=set)  # those of them that are a program, or a part of one
    generations: set[Called] = field(default_factory=set)  # what runs many steps, and is none
    generating: set[Called] = field(default_factory=set)  # that, and what it calls
    regions: Regions = field(default_factory=Regions)

    def at(self, function: Function, line: int) -> tuple[When, Chain]:
        """When a line of a function runs, and the chain of calls to it if that is in a step."""
        if is_test(function.module.name):
            return When.TEST, ()
        regions = self._regions(function)
        if function not in self.programs:
            regions = tuple(region for region in regions if region.when is not When.UNKNOWN)
        inside = [region.when for region in regions if line in region.lines]
        if inside[-1:] == [When.STEP] or (not inside and function in self.step):
            return When.STEP, self.step.get(function, (function.qualname,))
        if inside:
            return inside[-1], ()
        return (When.ONCE if function in self.once else When.UNKNOWN), ()

    def called_at(self, function: Function, when: When) -> list[Called]:
        """Which of the functions that a function calls are called in such lines of it."""
        names = frozenset[str]().union(*(r.calls for r in self._regions(function) if r.when is when))
        return [callee for callee in self.callees.get(function, ()) if _called_name(callee) in names]

    def from_(self, caller: Called) -> Iterable[Called]:
        """What something calls; a virtual method is any of those below it."""
        return caller.below if isinstance(caller, Virtual) else self.callees.get(caller, ())

    def _regions(self, function: Function) -> tuple[Region, ...]:
        known = self.regions
        if function not in known.of:
            known.of[function] = tuple(regions_of(function))
        if function not in self.generating:
            return known.of[function]
        if function not in known.loops:
            known.loops[function] = tuple(loops_of(function))
        return (*known.loops[function], *known.of[function])


def times(solver: Solver, entry_points: Sequence[str], regions: Regions) -> Times:
    """When each function of a project runs; ``regions`` keeps what is read of the source of functions.

    An entry point is "pkg.mod:Class.method"; ConfigError where its module is read and has no such function.
    One in another module reaches nothing. A cached property runs once for each object, so a step reaches it
    only as an entry point.
    """
    functions = [function for function in solver.functions() if not function.module.is_outside]
    found = Times({function: list(solver.known.callees.get(function, ())) for function in functions})
    found.regions = regions
    roots: list[Called] = []
    if entry_points:
        modules = {module.name for module in solver.context.modules}
        roots += _named(solver.functions(), modules, entry_points)
    else:
        roots += [f for f in functions if is_step(f) and not runs_on_other_hardware(f)]
        found.generations.update(f for f in functions if is_generation(f))
        _follow_generations(found)
        for function in functions:
            roots += [
                callee for callee in found.called_at(function, When.STEP) if not _generates(found, callee)
            ]
    _follow(found, roots)
    _note_once(found, functions)
    _close(found, functions)
    return found


def _follow_generations(found: Times) -> None:
    """Note what is called to run many steps, in loops and around them."""
    queue = deque(found.generations)
    while queue:
        caller = queue.popleft()
        if caller in found.generating or (isinstance(caller, Function) and is_step(caller)):
            continue
        found.generating.add(caller)
        queue += [callee for callee in found.from_(caller) if not _is_passed_over(callee)]


def _follow(found: Times, roots: Iterable[Called]) -> None:
    """Note what a step reaches, each by the shortest way."""
    for root in roots:
        found.step.setdefault(root, () if isinstance(root, Virtual) else (root.qualname,))
    queue = deque(found.step)
    while queue:
        caller = queue.popleft()
        guarded = [] if isinstance(caller, Virtual) else found.called_at(caller, When.ONCE)
        for callee in found.from_(caller):
            if callee in found.step or callee in guarded:
                continue
            if _is_passed_over(callee) or _generates(found, callee):
                continue
            chain = found.step[caller]
            found.step[callee] = chain if isinstance(callee, Virtual) else (*chain, callee.qualname)
            queue.append(callee)


def _generates(found: Times, called: Called) -> bool:
    """Whether what is called runs steps of its own."""
    return not found.generations.isdisjoint((called, *(called.below if isinstance(called, Virtual) else ())))


def _is_passed_over(called: Called) -> bool:
    """Whether a step that calls a function does so once, if ever."""
    if isinstance(called, Virtual):
        return False
    if called.is_cached_property or called.module.is_outside:
        return True
    return is_once(called) or runs_on_other_hardware(called)


def _note_once(found: Times, functions: Sequence[Function]) -> None:
    """Note what runs once by its name."""
    once = [
        function
        for function in functions
        if function not in found.step
        and (is_once(function) if function in found.generating else may_be_once(function))
    ]
    found.once.update(once)
    found.programs.update(function for function in once if starts_a_program(function))


def _close(found: Times, functions: Sequence[Function]) -> None:
    """Note what runs once as it is in what does, or because all that calls it does.

    What the project defines and never calls, such as a helper of its tests, tells nothing of when others run.
    """
    callers = _callers(found, functions)
    queue = deque(found.once)
    while queue:
        caller = queue.popleft()
        inside = caller.children.values() if isinstance(caller, Function) else ()
        defined = [each for each in inside if isinstance(each, Function)]
        for callee in (*defined, *found.from_(caller)):
            if callee in found.once or callee in found.step or callee in found.generating:
                continue
            if (callee in defined and caller not in found.programs) or _is_called_once(
                found, callee, callers
            ):
                found.once.add(callee)
                if not found.programs.isdisjoint(callers.get(callee, ())):
                    found.programs.add(callee)
                queue.append(callee)


def _is_called_once(found: Times, callee: Called, callers: dict[Called, set[Called]]) -> bool:
    return all(
        by is callee or (not _repeats(found, by, callee) and (by in found.once or by not in callers))
        for by in callers.get(callee, ())
    )


def _repeats(found: Times, caller: Called, callee: Called) -> bool:
    """Whether a caller is a program that calls something in a loop."""
    if isinstance(caller, Virtual) or caller not in found.programs:
        return False
    return callee in found.called_at(caller, When.UNKNOWN)


def _callers(found: Times, functions: Sequence[Function]) -> dict[Called, set[Called]]:
    """By what each function is called; a method also by the virtual one that it may be."""
    callers: dict[Called, set[Called]] = {}
    for function in functions:
        for callee in found.from_(function):
            callers.setdefault(callee, set()).add(function)
    for virtual in [callee for callee in callers if isinstance(callee, Virtual)]:
        for method in virtual.below:
            callers.setdefault(method, set()).add(virtual)
    return callers


def _called_name(called: Called) -> str:
    """The name by which a call calls it: of the class where it makes an object."""
    if (
        isinstance(called, Function)
        and called.name in {"__init__", "__post_init__", "__new__"}
        and called.owner
    ):
        return called.owner.name
    return called.name


def _named(functions: Sequence[Function], read: set[str], entry_points: Sequence[str]) -> list[Function]:
    by_name = {f"{function.module.name}:{function.qualname}": function for function in functions}
    for name in entry_points:
        if name not in by_name and name.partition(":")[0] in read:
            hint = suggestion(name, by_name, "write it as 'package.module:Class.method'")
            raise ConfigError(f"hot: the project has no function {name!r}; {hint}")
    return [by_name[name] for name in entry_points if name in by_name]
