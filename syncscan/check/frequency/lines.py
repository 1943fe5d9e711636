"""The execution frequency of a line, as the call graph of its project decides it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from syncscan.check.files import is_test
from syncscan.check.frequency.cached import FrequencyCache
from syncscan.check.frequency.calls import Called, called_name
from syncscan.check.frequency.functions import FunctionFrequency, lives_long
from syncscan.check.frequency.gates import names_with_media, needed_at, needed_by_names, needs_media
from syncscan.check.frequency.regions import Region
from syncscan.check.frequency.transfers import puts_into
from syncscan.check.infer.kept.names import Data, Names
from syncscan.check.infer.source.index import Class, Function, Virtual
from syncscan.model import When

Chain = tuple[str, ...]


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
    media: set[Called] = field(default_factory=set)  # run for inputs with images, videos or sound alone
    cached: set[Called] = field(default_factory=set)  # by a decorator of the project
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
        if when is When.STEP and (function in self.media or needs_media(line, self.cache.gates[function])):
            return When.UNKNOWN, ()
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
        """Return the root of the step that reaches a function, in the form of the setting `hot`.

        Return "" for a function that runs once around a loop of steps: the loop is known without the setting.
        """
        if function not in self.step:
            return ""
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

    def calls_with_media(self, caller: Called) -> frozenset[str]:
        """Return the names of what a function calls only for inputs with images, videos or sound."""
        return frozenset() if isinstance(caller, Virtual) else names_with_media(self.cache.gates[caller])

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
        # An object is called by the name of a variable; a function with loops calls its objects there.
        names |= {"__call__"} if when is not When.ONCE else set()
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
        return called in self.cached or (frequency is not None and frequency.is_passed_over)

    def generates(self, called: Called) -> bool:
        """Return whether a callee runs many steps for one request."""
        return not self.generations.isdisjoint(
            (called, *(called.below if isinstance(called, Virtual) else ()))
        )

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
                for known in (
                    self.once,
                    self.programs,
                    self.generating,
                    self.drivers,
                    self.evaluation,
                    self.media,
                )
            ),
            sorted(self.off),
            [[data(called), option] for called, option in self.optional.items()],
        ]

    @classmethod
    def recalled(cls, data: Data, names: Names, cache: FrequencyCache) -> Frequencies:
        """Return the instance that `data` described; only `at`, `option_at`, `entry_point` and `in_evaluation` work on it."""
        step, *known, off, optional = data
        once, programs, generating, drivers, evaluation, media = ({*map(names.thing, each)} for each in known)
        steps = {names.thing(called): names.thing(by) for called, by in step}
        made = {each for each in map(made_by, steps) if each is not None}
        return cls(
            {}, steps, once, programs, generating=generating, drivers=drivers, evaluation=evaluation, media=media, made=made,
            off=frozenset(off), optional={names.thing(called): option for called, option in optional}, cache=cache,
        )  # fmt: skip


def made_by(called: Called) -> Class | None:
    """Return the class that a constructor instantiates; None for other functions and for classes whose objects live long."""
    if not isinstance(called, Function) or called.owner is None or called.name == called_name(called):
        return None
    return None if lives_long(called.owner) else called.owner
