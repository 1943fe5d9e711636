"""The execution frequency of a line, followed along the call graph: in every step, once, in tests, or unknown.

1. The settings name the entry points. If they name none, the entry points are:
   - the functions that a framework calls for each batch (`is_step`), but for the stages that a loop of another object calls once each,
   - the callees in loops that train or read batches,
   - the callees in loops of functions that run many steps for one request (`is_generation`, `samples`). These functions are no steps themselves,
     and neither is a callee that generates by its name in a loop of its own.
2. Every function that an entry point reaches runs per step. The walk passes over functions that run once by their names, such as loading,
   and over calls behind a guard such as ``if self._x is None``. After the others it follows calls for inputs with images, videos or sound alone;
   their frequency stays unknown. Calls behind options that are off by default come next, and evaluation last.
3. A function that no step reaches runs once by its name, or if all calls of it run once.
4. Calls in the loops of a program's start-up stay unknown: the callee may run per step under another name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from syncscan.check.files import is_named_in_full
from syncscan.check.frequency.cached import FrequencyCache
from syncscan.check.frequency.calls import Called, callers_of
from syncscan.check.frequency.entry_points import usual_roots
from syncscan.check.frequency.lines import Frequencies
from syncscan.check.frequency.options import off_by_default
from syncscan.check.frequency.reach import follow
from syncscan.check.frequency.seldom import close_over_once, note_once
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.index import Function
from syncscan.errors import ConfigError, suggestion


def frequencies(solver: Solver, entry_points: Sequence[str], cache: FrequencyCache) -> Frequencies:
    """Return when each function of a project runs; ``cache`` caches the loops, guards and functions of functions.

    An entry point has the form "pkg.mod:Class.method". Raises ConfigError where the project has the module
    but not the function. An entry point in another module reaches nothing. A cached property runs once for
    each object. It runs per step only if the settings name the property as an entry point.
    """
    functions = [function for function in solver.functions() if not function.module.is_outside]
    found = Frequencies({function: solver.known.run_by(function) for function in functions})
    found.cache = cache
    declared = (cache.options[module.body] for module in solver.context.modules)
    others = (each.name for each in functions if each.is_property)
    found.off = off_by_default(declared, (others, *(cache.computed[each] for each in functions)))
    caching = {each.name for each in functions if cache.by_function[each].caches_results}
    found.cached.update(each for each in functions if not caching.isdisjoint(each.decorators))
    _run_arguments_where_passed(found)
    callers = callers_of(functions, found.from_)
    _note_evaluation(found, functions, callers)
    if entry_points:
        modules = {module.name for module in solver.context.modules}
        follow(found, _named(solver.functions(), modules, entry_points), ())
    else:
        follow(found, *usual_roots(found, functions, callers))
    note_once(found, functions, callers)
    close_over_once(found, functions, callers)
    return found


def _run_arguments_where_passed(found: Frequencies) -> None:
    """Let a lambda run when the function that passes it does, since a helper runs the lambdas of all its callers."""
    passed = [
        (helper, callee, callee.parent)
        for helper, callees in found.callees.items()
        for callee in callees
        if isinstance(callee, Function) and callee.parent is not None and callee.parent is not helper
        if found.cache.by_function[callee].is_argument and helper in found.callees.get(callee.parent, ())
    ]
    for helper, argument, passing in passed:
        found.callees[helper].remove(argument)
        if argument not in found.callees[passing]:
            found.callees[passing].append(argument)


def _note_evaluation(
    found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]
) -> None:
    """Record what evaluates a model by its name, and what is called from there alone and by no framework."""
    queue: deque[Called] = deque(each for each in functions if found.cache.by_function[each].evaluates)
    found.evaluation.update(queue)
    while queue:
        for callee in found.from_(queue.popleft()):
            frequency = found.frequency(callee)
            if callee in found.evaluation or (frequency is not None and frequency.is_step):
                continue
            if callers[callee] - found.evaluation <= {callee}:
                found.evaluation.add(callee)
                queue.append(callee)


def _named(functions: Sequence[Function], read: set[str], entry_points: Sequence[str]) -> list[Function]:
    by_name = {f"{function.module.name}:{function.qualname}": function for function in functions}
    found = []
    for name in entry_points:
        function = by_name.get(name) or _in_a_namespace(by_name, name)
        if function is not None:
            found.append(function)
        elif name.partition(":")[0] in read:
            hint = suggestion(name, by_name, "write it as 'package.module:Class.method'")
            raise ConfigError(f"hot: the project has no function {name!r}; {hint}")
    return found


def _in_a_namespace(by_name: Mapping[str, Function], name: str) -> Function | None:
    """Return the function of a name that begins with folders without ``__init__.py``, which the names of modules leave out."""
    module, _, function = name.partition(":")
    short = module
    while "." in short:
        short = short.partition(".")[2]
        found = by_name.get(f"{short}:{function}")
        if found is not None and is_named_in_full(short, Path(found.module.path), module):
            return found
    return None
