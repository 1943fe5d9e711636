"""The entry points of steps that the settings leave open; `syncscan.check.frequency.project` lists their kinds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from syncscan.check.frequency.calls import Called, called_name, closure
from syncscan.check.frequency.functions import is_module_like
from syncscan.check.frequency.lines import Frequencies
from syncscan.check.frequency.regions import names_a_model, names_a_sampler
from syncscan.check.infer.source.index import Function
from syncscan.model import When


def usual_roots(
    found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]
) -> tuple[list[Called], list[Called]]:
    """Return the entry points that the settings leave open, and those that only evaluation calls."""
    frequency = found.cache.by_function
    found.generations.update(function for function in functions if frequency[function].is_generation)
    _follow_generations(found, [*found.generations, *_drive(found, functions, callers)])
    around = _around_steps(found, callers)
    left_out = found.generating | found.cached | _stages(found, functions)
    steps = [
        each
        for each in functions
        if each not in left_out and frequency[each].is_step and not frequency[each].runs_elsewhere
    ]
    roots = [
        each
        for each in steps
        if not (frequency[each].is_named_step and _serves_media_alone(found, each, callers))
    ]
    called, evaluated = _called_by_loops(found, functions, around)
    return [*roots, *called], evaluated


def _stages(found: Frequencies, functions: Sequence[Function]) -> set[Called]:
    """Return the methods ``__call__`` of what another object calls one after the other: its stages, each called once.

    A stage has the base of that object, and takes as many arguments. One that a loop of steps calls takes the step too.
    """
    frequency = found.cache.by_function
    lists = [each for each in functions if frequency[each].runs_stages]
    return {
        cls.methods["__call__"]
        for each in lists
        if each.owner is not None
        for base in each.owner.bases
        for cls in base.subclasses
        if "__call__" in cls.methods and len(cls.methods["__call__"].parameters) == len(each.parameters)
        if not frequency[cls.methods["__call__"]].is_named_step
    }


def _serves_media_alone(found: Frequencies, callee: Function, callers: dict[Called, set[Called]]) -> bool:
    """Return whether the project calls a function only for inputs with images, videos or sound."""
    by = callers.get(callee, set()) - {callee}
    return bool(by) and all(called_name(callee) in found.calls_with_media(caller) for caller in by)


def _called_by_loops(
    found: Frequencies, functions: Sequence[Function], around: set[Called]
) -> tuple[list[Called], list[Called]]:
    """Return what loops over batches and those that run models call, and what they call in evaluation."""
    roots: list[Called] = []
    evaluated: list[Called] = []
    for function in functions:
        to = evaluated if function in found.evaluation else roots
        called = found.called_at(function, When.STEP)
        if function in found.generating:  # of loops inside of loops the innermost has the steps
            called = [each for each in called if each not in around or not names_a_sampler(called_name(each))]
        to += [
            callee for callee in called if not found.is_passed_over(callee) and not found.generates(callee)
        ]
    return roots, evaluated


def _around_steps(found: Frequencies, callers: dict[Called, set[Called]]) -> set[Called]:
    """Return the functions, of those that run many steps, with a loop that runs a model: their own, or one of a callee."""
    own = (
        each
        for each in found.generating
        if isinstance(each, Function)
        and (
            each in found.drivers
            or any(names_a_model(name) for loop in found.cache.loops[each] for name in loop.calls)
        )
    )
    return closure(own, lambda called: found.generating.intersection(callers.get(called, ())))


def _drive(
    found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]
) -> Iterator[Function]:
    """Yield the functions that only run a model, in a loop of their own or of a callee.

    A step may call such a function too, and decides then.
    Layers are no steps: a module, or what calls its layers by the names of variables, is left out.
    """
    by_function = found.cache.by_function
    only_run = [each for each in functions if by_function[each].only_runs_a_model]

    def above(called: Called) -> Iterable[Called]:
        return callers.get(called, ())

    def inside(called: Called) -> Iterable[Called]:
        return () if _is_named_step(found, called) else found.from_(called)

    runs_models = closure((each for each in functions if _is_forward(each)), above)
    below = closure([*found.generations, *only_run], inside)  # few of all functions
    found.drivers.update(
        each for each in below if isinstance(each, Function) and _holds_steps(found, each, runs_models)
    )
    around = closure((each for each in found.drivers if not _is_named_step(found, each)), above)
    return (each for each in only_run if each in around)


def _is_named_step(found: Frequencies, called: Called) -> bool:
    frequency = found.frequency(called)
    return frequency is not None and frequency.is_named_step


def _is_forward(function: Function) -> bool:
    return function.name == "forward" and function.owner is not None and is_module_like(function.owner)


def _holds_steps(found: Frequencies, function: Function, runs_models: set[Called]) -> bool:
    """Return whether a loop of a function calls something by name that runs a model."""
    if function.owner is not None and is_module_like(function.owner):
        return False
    loops = [region.calls for region in found.cache.regions[function] if region.when is not When.ONCE]
    names = frozenset().union(*loops)
    return bool(names) and any(
        callee in runs_models and called_name(callee) in names for callee in found.from_(function)
    )


def _follow_generations(found: Frequencies, generations: Iterable[Called]) -> None:
    """Record the functions that run many steps for one request, and their callees."""
    queue = deque(generations)
    while queue:
        caller = queue.popleft()
        frequency = found.frequency(caller)
        if caller in found.generating or (frequency is not None and frequency.is_named_step):
            continue
        found.generating.add(caller)
        queue += [callee for callee in found.from_(caller) if not found.is_passed_over(callee)]
