"""The execution frequency of functions by their source, read once for each of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, Generic, TypeVar

from syncscan.check.frequency.functions import FunctionFrequency
from syncscan.check.frequency.gates import Gate, gates_of
from syncscan.check.frequency.options import Options, computed_by, name_asked, public
from syncscan.check.frequency.regions import Region, loops_of, regions_of
from syncscan.check.infer.source.edits import ModuleEdit
from syncscan.check.infer.source.index import Function
from syncscan.model import When

Seen = TypeVar("Seen")
Data = Any  # what JSON holds


class PerFunction(dict[Function, Seen], Generic[Seen]):
    """The frequency of each function, read at the first question; ``kept`` has the data of an earlier run."""

    def __init__(self, read: Callable[[Function], Seen], made: Callable[[Data], Seen]) -> None:
        """Read functions with ``read``, and restored data with ``made``."""
        self.kept: dict[Function, Data] = {}
        self._read = read
        self._made = made

    def __missing__(self, function: Function) -> Seen:
        data = self.kept.pop(function, None)
        found = self[function] = self._read(function) if data is None else self._made(data)
        return found

    def data(self, function: Function | None, data_of: Callable[[Seen], Data]) -> Data:
        """Return the facts of a function as data; None if the facts have not been read."""
        if function is None:
            return None
        return data_of(self[function]) if function in self else self.kept.get(function)

    def forget(self, functions: Iterable[Function]) -> None:
        """Read some functions again."""
        for function in functions:
            self.kept.pop(function, None)
            self.pop(function, None)


def _methods_below(edits: Iterable[ModuleEdit]) -> Iterator[Function]:
    """Yield the methods of the subclasses of classes in edited files."""
    for edit in edits:
        for cls in dict.fromkeys(below for each in edit.module.classes for below in each.subclasses):
            yield from cls.methods.values()


class FrequencyCache:
    """The frequency, the regions and the gates of each function, the loops of those that generate, and the options of modules."""

    def __init__(self) -> None:
        self.by_function = PerFunction(FunctionFrequency.of, _frequency)
        self.regions = PerFunction(lambda function: tuple(regions_of(function)), _regions)
        self.loops = PerFunction(lambda function: tuple(loops_of(function)), _regions)
        self.gates = PerFunction(lambda function: tuple(gates_of(function)), _gates)
        self.options = PerFunction(Options.of, _options)  # of the bodies of modules
        self.computed = PerFunction(computed_by, _names)

    def forget(self, edits: Sequence[ModuleEdit], others: Iterable[Function]) -> None:
        """Invalidate the frequency of all functions that files define, of methods of subclasses, and of other functions."""
        self.by_function.forget(others)
        for edit in edits:
            self.by_function.forget((*edit.gone, *edit.module.functions))
        self.by_function.forget(_methods_below(edits))

    def read_again(self, edits: Sequence[ModuleEdit]) -> bool:
        """Read the functions of files that were edited again; whether any of them calls at other times.

        The nature of a method rests on the other methods of its class and of the bases, too.
        """
        paths, gone = {edit.module.path for edit in edits}, {each for edit in edits for each in edit.gone}
        below, differs = {*_methods_below(edits)}, False
        columns: tuple[tuple[PerFunction[Any], Callable[[Any], Any]], ...] = (
            (self.by_function, _itself),
            (self.regions, _calls),
            (self.loops, _calls),
            (self.gates, _gated),
            (self.options, self._of_options_alone()),
            (self.computed, _itself),
        )
        for known, answer in columns:
            for function in [
                each for each in (*known, *known.kept) if each.module.path in paths or each in below
            ]:
                before = known[function]
                del known[function]
                if function not in gone:
                    differs = differs or answer(known[function]) != answer(before)
        return differs

    def _of_options_alone(self) -> Callable[[Options], Options]:
        """Return a function that leaves out the values that a module gives to names which are no options in any module."""
        known = [self.options[module] for module in [*self.options, *self.options.kept]]
        names = {public(name_asked(asked)) for each in known for asked in each.unset}
        names.update(public(name) for each in known for name, _ in each.read)
        return lambda options: options.with_values_of(names)

    def read(self, functions: Sequence[Function]) -> Data:
        """Read what is asked of each function, and return it as `data` does; the rest is asked of few."""
        for known in (self.by_function, self.regions, self.options, self.computed):
            for function in functions:
                known[function]
        return self.data(functions)

    def data(self, functions: Sequence[Function | None]) -> Data:
        """Return the stored facts of functions, in the order of the functions."""
        return [
            [self.by_function.data(each, _of_frequency) for each in functions],
            *(
                [known.data(each, lambda regions: [*map(_of_region, regions)]) for each in functions]
                for known in (self.regions, self.loops)
            ),
            [self.gates.data(each, lambda gates: [*map(_of_gate, gates)]) for each in functions],
            [self.options.data(each, _of_options) for each in functions],
            [self.computed.data(each, sorted) for each in functions],
        ]

    def recall(self, data: Data, functions: Sequence[Function | None]) -> None:
        """Take over what an earlier run knew."""
        columns: tuple[PerFunction[Any], ...] = (
            self.by_function, self.regions, self.loops, self.gates, self.options, self.computed
        )  # fmt: skip
        for known, column in zip(columns, data, strict=True):
            pairs = zip(functions, column, strict=True)
            known.kept = {
                function: each for function, each in pairs if function is not None and each is not None
            }


def _calls(regions: Iterable[Region]) -> list[tuple[When, frozenset[str], bool]]:
    return [(region.when, region.calls, region.is_of_self) for region in regions]


def _gated(gates: Iterable[Gate]) -> list[tuple[frozenset[str], frozenset[str]]]:
    return [(gate.options, gate.names) for gate in gates]


def _itself(seen: Seen) -> Seen:
    return seen


def _names(data: Data) -> frozenset[str]:
    return frozenset(data)


def _of_gate(gate: Gate) -> Data:
    return [sorted(gate.options), gate.lines.start, gate.lines.stop, sorted(gate.names)]


def _gates(data: Data) -> tuple[Gate, ...]:
    return tuple(
        Gate(frozenset(options), range(start, stop), frozenset(names)) for options, start, stop, names in data
    )


def _of_options(options: Options) -> Data:
    names = (options.off, options.on, options.unset, options.given)
    return [*map(sorted, names), sorted(map(list, options.read))]


def _options(data: Data) -> Options:
    off, on, unset, given, read = data
    pairs = frozenset((name, origin) for name, origin in read)
    return Options(frozenset(off), frozenset(on), frozenset(unset), frozenset(given), pairs)


def _of_region(region: Region) -> Data:
    return [
        region.when.value,
        region.lines.start,
        region.lines.stop,
        sorted(region.calls),
        region.moved,
        region.is_of_self,
    ]


def _regions(data: Data) -> tuple[Region, ...]:
    return tuple(
        Region(When(when), range(start, stop), frozenset(calls), moved, of_self)
        for when, start, stop, calls, moved, of_self in data
    )


@functools.cache  # such functions are few
def _of_frequency(frequency: FunctionFrequency) -> str:
    return "".join("1" if each else "0" for each in astuple(frequency))


@functools.cache
def _frequency(data: str) -> FunctionFrequency:
    return FunctionFrequency(*(each == "1" for each in data))
