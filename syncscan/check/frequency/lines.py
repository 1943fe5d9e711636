"""The execution frequency of a line, followed along the call graph: in every step, once, in tests, or unknown.

1. The settings name the entry points of a step. Without such entry points, they are:
   - the functions that a framework calls for each batch (`is_step`),
   - the callees in loops that train or read batches,
   - the callees in loops of functions that run many steps for one request (`is_generation`, `samples`). These functions are no steps themselves.
2. Every function that an entry point reaches runs per step. The walk passes over functions that run once by their names, such as loading,
   and over calls behind a guard such as ``if self._x is None``. It follows calls behind options that are off by default
   after all others, and evaluation last.
3. A function that no step reaches runs once by its name, or if all calls of it run once.
4. Calls in the loops of a program's start-up stay unknown, for the callee may be a step under another name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from syncscan.check.files import is_test
from syncscan.check.frequency.cached import FrequencyCache
from syncscan.check.frequency.calls import Called, called_name, callers_of, closure
from syncscan.check.frequency.closures import defined_in
from syncscan.check.frequency.functions import FunctionFrequency, is_module_like, lives_long
from syncscan.check.frequency.gates import needed_at, needed_by_names
from syncscan.check.frequency.options import off_by_default
from syncscan.check.frequency.regions import Region
from syncscan.check.frequency.transfers import puts_into
from syncscan.check.infer.kept.names import Data, Names
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.index import Class, Function, Virtual
from syncscan.errors import ConfigError, suggestion
from syncscan.model import When

Chain = tuple[str, ...]
Call = tuple[Called, Called | None]  # with its caller


@dataclass(slots=True)
class Frequencies:
    """The execution frequency of each function, and the chain of calls by which a step reaches each function."""

    callees: dict[Function, list[Called]]
    step: dict[Called, Called | None] = field(default_factory=dict)  # with the caller on the shortest chain
    once: set[Called] = field(default_factory=set)
    programs: set[Called] = field(default_factory=set)  # programs, and parts of programs, in ``once``
    generations: set[Called] = field(default_factory=set)  # run many steps, and are no steps
    generating: set[Called] = field(default_factory=set)  # such functions and their callees
    drivers: set[Called] = field(default_factory=set)  # loops in these call what runs a model
    evaluation: set[Called] = field(default_factory=set)  # run in evaluation, export or debugging alone
    made: set[Class] = field(default_factory=set)  # classes that a step instantiates
    off: frozenset[str] = frozenset()  # the options that are off by default
    optional: dict[Called, str] = field(default_factory=dict)  # reached behind such an option alone
    cache: FrequencyCache = field(default_factory=FrequencyCache)

    def at(self, function: Function, line: int) -> tuple[When, Chain]:
        """Return when a line of a function runs, and the chain of calls from the root of the step, empty outside steps."""
        when, chain = self._reached_at(function, line)
        moved = [region.moved for region in self._regions(function) if region.moved and line in region.lines]
        if moved and when is not When.TEST and self._stays_moved(function.owner, moved[0]):
            return When.ONCE, ()
        return when, chain

    def _reached_at(self, function: Function, line: int) -> tuple[When, Chain]:
        if is_test(function.module.name):
            return When.TEST, ()
        regions = [region for region in self._regions(function) if not region.moved]
        if function not in self.programs:
            regions = [region for region in regions if region.when is not When.UNKNOWN]
        inside = [region.when for region in regions if line in region.lines]
        if inside[-1:] == [When.STEP] or (not inside and function in self.step):
            return When.STEP, self._chain(function)
        if inside:
            return inside[-1], ()
        return (When.ONCE if function in self.once else When.UNKNOWN), ()

    def _chain(self, function: Function) -> Chain:
        """Return the qualified names of the functions from the root of the step to this one."""
        names, called = [function.qualname], self.step.get(function)
        while called is not None:
            if isinstance(called, Function):
                names.append(called.qualname)
            called = self.step[called]
        return tuple(reversed(names))

    def entry_point(self, function: Function) -> str:
        """Return the root of the step that reaches a function, in the form of the setting `hot`."""
        root, called = function, self.step.get(function)
        while called is not None:
            root = called if isinstance(called, Function) else root
            called = self.step[called]
        return f"{root.module.name}:{root.qualname}"

    def option_at(self, function: Function, line: int) -> str:
        """Return the option that is off by default and without which no step reaches a line, or ""."""
        return needed_at(line, self.cache.gates[function], self.off) or self.optional.get(function, "")

    def options_of_calls(self, caller: Called) -> dict[str, str]:
        """Return the names of what a function calls behind options that are off by default alone, each with the option."""
        return {} if isinstance(caller, Virtual) else needed_by_names(self.cache.gates[caller], self.off)

    def in_evaluation(self, function: Function) -> bool:
        """Return whether a function runs where a model is evaluated, exported or debugged, and nowhere else."""
        return function in self.evaluation

    def _stays_moved(self, cls: Class | None, name: str) -> bool:
        """Return whether objects of a class live long, and no step stores a new value into their attribute ``name``."""
        if cls is None or not lives_long(cls):
            return False
        puts = {self._reached_at(method, line)[0] for method, line in puts_into(cls, name)}
        return When.ONCE in puts and puts <= {When.ONCE, When.TEST}

    def called_at(self, function: Function, when: When) -> list[Called]:
        """Return the callees of a function in those of its regions that run at ``when``."""
        calls = [region.calls for region in self._regions(function) if region.when is when]
        if not calls:
            return []
        names = calls[0].union(*calls[1:])
        # An object is called by the name of a variable; a function that holds steps calls its objects there.
        names |= {"__call__"} if when is When.STEP else set()
        return [callee for callee in self.callees.get(function, ()) if called_name(callee) in names]

    def from_(self, caller: Called) -> Iterable[Called]:
        """Return the callees of a function; those of a virtual method are its implementations."""
        return caller.below if isinstance(caller, Virtual) else self.callees.get(caller, ())

    def frequency(self, called: Called) -> FunctionFrequency | None:
        """Return the frequency of a function by its name; None for a virtual method, whose implementations decide."""
        return None if isinstance(called, Virtual) else self.cache.by_function[called]

    def is_passed_over(self, called: Called) -> bool:
        """Return whether a step that calls this function does so at most once."""
        frequency = self.frequency(called)
        return frequency is not None and frequency.is_passed_over

    def _regions(self, function: Function) -> tuple[Region, ...]:
        regions = self.cache.regions[function]
        if function.owner in self.made:  # the attributes of such an object die with the step
            regions = tuple(region for region in regions if not region.is_of_self)
        if function not in self.generating:
            return (
                (*self.cache.loops[function], *regions)
                if self.cache.by_function[function].samples
                else regions
            )
        if function in self.drivers:
            regions = tuple(
                replace(region, when=When.STEP) if region.when is When.UNKNOWN else region
                for region in regions
            )
        return (*self.cache.loops[function], *regions)

    def data(self, names: Names) -> Data:
        """Return the data on which `at` and `in_evaluation` depend, for persistence."""
        data = names.data
        return [
            [[data(called), data(by)] for called, by in self.step.items()],
            *(
                [*map(data, known)]
                for known in (self.once, self.programs, self.generating, self.drivers, self.evaluation)
            ),
            sorted(self.off),
            [[data(called), option] for called, option in self.optional.items()],
        ]

    @classmethod
    def recalled(cls, data: Data, names: Names, cache: FrequencyCache) -> Frequencies:
        """Return the instance that `data` described; only `at`, `option_at`, `entry_point` and `in_evaluation` work on it."""
        step, *known, off, optional = data
        once, programs, generating, drivers, evaluation = ({*map(names.thing, each)} for each in known)
        steps = {names.thing(called): names.thing(by) for called, by in step}
        made = {each for each in map(_made_by, steps) if each is not None}
        return cls(
            {}, steps, once, programs, generating=generating, drivers=drivers, evaluation=evaluation, made=made,
            off=frozenset(off), optional={names.thing(called): option for called, option in optional}, cache=cache,
        )  # fmt: skip


def frequencies(solver: Solver, entry_points: Sequence[str], cache: FrequencyCache) -> Frequencies:
    """Return when each function of a project runs; ``cache`` caches the loops, guards and functions of functions.

    An entry point has the form "pkg.mod:Class.method". Raises ConfigError where the project has the module
    but not the function. An entry point in another module reaches nothing. A cached property runs once for
    each object, so only its use as an entry point makes it part of a step.
    """
    functions = [function for function in solver.functions() if not function.module.is_outside]
    found = Frequencies({function: solver.known.run_by(function) for function in functions})
    found.cache = cache
    declared = (cache.options[module.body] for module in solver.context.modules)
    others = (each.name for each in functions if each.is_property)
    found.off = off_by_default(declared, (others, *(cache.computed[each] for each in functions)))
    _run_arguments_where_passed(found)
    callers = callers_of(functions, found.from_)
    _note_evaluation(found, functions, callers)
    if entry_points:
        modules = {module.name for module in solver.context.modules}
        _follow(found, _named(solver.functions(), modules, entry_points), ())
    else:
        _follow(found, *_usual_roots(found, functions, callers))
    _note_once(found, functions)
    _close(found, functions, callers)
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


def _usual_roots(
    found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]
) -> tuple[list[Called], list[Called]]:
    """Return the entry points that the settings leave open, and those that only evaluation calls.

    The docstring of the module lists the kinds of entry points.
    """
    frequency = found.cache.by_function
    found.generations.update(function for function in functions if frequency[function].is_generation)
    _follow_generations(found, [*found.generations, *_drive(found, functions, callers)])
    steps = (each for each in functions if each not in found.generating and frequency[each].is_step)
    roots: list[Called] = [function for function in steps if not frequency[function].runs_elsewhere]
    evaluated: list[Called] = []
    for function in functions:
        to = evaluated if function in found.evaluation else roots
        called = found.called_at(function, When.STEP)
        to += [
            callee for callee in called if not found.is_passed_over(callee) and not _generates(found, callee)
        ]
    return roots, evaluated


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


def _follow(found: Frequencies, roots: Iterable[Called], evaluated: Iterable[Called]) -> None:
    """Record the functions that a step reaches, each with its shortest call chain.

    Calls behind options that are off by default come after the rest, and evaluation comes last. So a function belongs to these
    only if nothing else reaches the function.
    """
    optional: list[Call] = []
    later: list[Call] = []
    _reach(found, [(root, None) for root in roots], optional, later)
    usual = len(found.step)
    _reach(found, optional, None, later)
    trained = len(found.step)
    _reach(found, [*later, *((root, None) for root in evaluated)], None, None)
    reached = [*found.step.items()]
    found.evaluation.update(called for called, _ in reached[trained:])
    for called, by in reached[usual:trained]:
        option = found.optional.get(by) or found.options_of_calls(by).get(called_name(called)) if by else ""
        if option:
            found.optional[called] = option


def _reach(
    found: Frequencies, calls: Iterable[Call], optional: list[Call] | None, evaluation: list[Call] | None
) -> None:
    """Record the functions that some calls reach.

    Lists ``optional`` and ``evaluation`` collect the calls behind options and those of evaluation in place of following them.
    """
    queue = deque(calls)
    while queue:
        called, by = queue.popleft()
        if called in found.step:
            continue
        if evaluation is not None and called in found.evaluation:
            evaluation.append((called, by))
            continue
        found.step[called] = by
        for caller in (called, *_note_made(found, called)):
            guarded = [] if isinstance(caller, Virtual) else found.called_at(caller, When.ONCE)
            gated = found.options_of_calls(caller) if optional is not None else {}
            for callee in found.from_(caller):
                if (
                    callee in found.step
                    or callee in guarded
                    or found.is_passed_over(callee)
                    or _generates(found, callee)
                ):
                    continue
                to = optional if optional is not None and called_name(callee) in gated else queue
                to.append((callee, caller))


def _note_made(found: Frequencies, called: Called) -> list[Called]:
    """Record the class that a step instantiates if ``called`` is a constructor; return its methods that the step already reaches."""
    cls = _made_by(called)
    if cls is None or cls in found.made:
        return []
    found.made.add(cls)
    return [method for method in cls.methods.values() if method in found.step]


def _made_by(called: Called) -> Class | None:
    """Return the class that a constructor instantiates; None for other functions and for classes whose objects live long."""
    if not isinstance(called, Function) or called.owner is None or called.name == called_name(called):
        return None
    return None if lives_long(called.owner) else called.owner


def _generates(found: Frequencies, called: Called) -> bool:
    """Return whether a callee runs many steps for one request."""
    return not found.generations.isdisjoint((called, *(called.below if isinstance(called, Virtual) else ())))


def _note_once(found: Frequencies, functions: Sequence[Function]) -> None:
    """Record the functions that run once by their names."""
    frequency = found.cache.by_function
    once = [
        function
        for function in functions
        if function not in found.step
        and (frequency[function].is_once if function in found.generating else frequency[function].may_be_once)
    ]
    found.once.update(once)
    found.programs.update(function for function in once if frequency[function].starts_a_program)


def _close(found: Frequencies, functions: Sequence[Function], callers: dict[Called, set[Called]]) -> None:
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


def _named(functions: Sequence[Function], read: set[str], entry_points: Sequence[str]) -> list[Function]:
    by_name = {f"{function.module.name}:{function.qualname}": function for function in functions}
    for name in entry_points:
        if name not in by_name and name.partition(":")[0] in read:
            hint = suggestion(name, by_name, "write it as 'package.module:Class.method'")
            raise ConfigError(f"hot: the project has no function {name!r}; {hint}")
    return [by_name[name] for name in entry_points if name in by_name]
