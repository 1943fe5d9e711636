"""Numbers for the definitions of a project, independent of where its source lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar

from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.kept.unread import UnreadClass, UnreadFunction, UnreadModule
from syncscan.check.infer.source.index import Class, Function, Module, Virtual
from syncscan.check.infer.source.parameters import Parameter

Data = Any  # what JSON holds
Definition = TypeVar("Definition", Module, Class, Function)


text_of = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode  # data as one line


class Numbered(dict[int, Definition], Generic[Definition]):
    """The definitions of one sort by number; ``end`` is the first number never assigned."""

    end = 0

    def in_order(self) -> list[Definition | None]:
        """Return the definitions by number, with None for deleted ones."""
        return [self.get(number) for number in range(self.end)]


class Names:
    """The modules, functions and classes of a project by number, and the lambdas that the analysis has met.

    A definition keeps its number in later runs, and the number of a deleted definition is never assigned again.
    """

    def __init__(
        self, modules: Iterable[Module] = (), lambdas: Iterable[Function] = (), before: Names | None = None
    ) -> None:
        """Number the definitions of modules, and lambdas; those that had a number ``before`` keep it."""
        self.modules, self.functions, self.classes = (
            Numbered[Module](),
            Numbered[Function](),
            Numbered[Class](),
        )
        self._numbers: dict[object, int] = {}
        self._parameters: dict[Parameter, tuple[int, str]] = {}
        self._given: dict[int, dict[str, Parameter]] = {}  # of each function, as they are now
        self._before: dict[object, int] = {}
        if before is not None:
            self._before = before._numbers
            self.leave_out(before.ends)
        for module in modules:
            self.add_module(module)
        for function in lambdas:
            self.add(function)

    @property
    def ends(self) -> list[int]:
        """The first number never assigned to a module, to a function, and to a class."""
        return [self.modules.end, self.functions.end, self.classes.end]

    def leave_out(self, ends: Sequence[int]) -> None:
        """Assign only numbers from ``ends`` on to new definitions."""
        self.modules.end, self.functions.end, self.classes.end = ends

    def add_module(self, module: Module, numbers: Data = None) -> None:
        """Number a module and its definitions; ``numbers`` are those of `numbers_in` in an earlier run."""
        own, functions, classes = numbers or (
            None,
            repeat(None, len(module.functions)),
            repeat(None, len(module.classes)),
        )
        self._add(self.modules, module, own)
        for function, number in zip(module.functions, functions, strict=True):
            self.add(function, number)
        for cls, number in zip(module.classes, classes, strict=True):
            self._add(self.classes, cls, number)
        if module.unread is not None:
            module.unread.noting.append(self._note)

    def numbers_in(self, module: Module) -> Data:
        """Return the numbers of a module, of its functions, and of its classes."""
        return [
            self.number(module),
            [*map(self.number, module.functions)],
            [*map(self.number, module.classes)],
        ]

    def add(self, function: Function, number: int | None = None) -> None:
        """Number a function, or a lambda."""
        self._add(self.functions, function, number)
        unread = function.module.unread
        if unread is None or function not in unread.parameters:
            self._note(function)

    def _add(self, numbered: Numbered[Definition], definition: Definition, number: int | None) -> None:
        if number is None:
            number = self._before.get(definition, numbered.end)
        self._numbers[definition] = number
        numbered[number] = definition
        numbered.end = max(numbered.end, number + 1)

    def _note(self, function: Function) -> None:
        """Record the parameters of a function."""
        number = self._numbers[function]
        self._given[number] = {parameter.name: parameter for parameter in function.parameters}
        self._parameters.update({parameter: (number, parameter.name) for parameter in function.parameters})

    def parameter(self, number: int, name: str) -> Parameter:
        """Return the parameter with a name of the function with this number."""
        if number not in self._given:
            assert self.functions[number].parameters  # which are noted as they are asked for
        return self._given[number][name]

    def parameters(self) -> set[tuple[int, str]]:
        """Return the recorded parameters, each as the number of its function and its name."""
        return {*self._parameters.values()}

    def number(self, thing: Module | Class | Function) -> int:
        """Return the number of a definition among those of its sort; raise NotKeptError outside the project."""
        number = self._numbers.get(thing)
        if number is None:
            raise NotKeptError(f"{thing.key} is no part of the project")
        return number

    def numbers(self, functions: Iterable[Function]) -> list[int]:
        """Return the numbers of functions in order, without deleted functions."""
        return sorted(self._numbers[function] for function in functions if function in self._numbers)

    def data(self, thing: object) -> Data:
        """Serialise a definition, or a tuple or set of definitions; raise NotKeptError for other types."""
        if thing is None or isinstance(thing, (bool, int, str)):
            return thing
        write = _WRITERS.get(type(thing))
        if write is None:
            raise NotKeptError(f"{type(thing).__name__} has no form as data")
        return write(self, thing)

    def thing(self, data: Data) -> Any:
        """Return the definition that serialised data denotes."""
        return _READERS[data[0]](self, data) if isinstance(data, list) else data

    def _parameter(self, parameter: Parameter) -> Data:
        if parameter not in self._parameters:
            raise NotKeptError(f"{parameter.name} is a parameter of no function")
        return ["p", *self._parameters[parameter]]


_WRITERS: dict[type, Callable[[Names, Any], Data]] = {
    **dict.fromkeys((Function, UnreadFunction), lambda names, it: ["f", names.number(it)]),
    **dict.fromkeys((Class, UnreadClass), lambda names, it: ["c", names.number(it)]),
    **dict.fromkeys((Module, UnreadModule), lambda names, it: ["m", names.number(it)]),
    Virtual: lambda names, it: ["v", names.number(it.cls), it.name],
    Parameter: lambda names, it: names._parameter(it),
    tuple: lambda names, it: ["t", *map(names.data, it)],
    frozenset: lambda names, it: ["s", *sorted(map(names.data, it), key=text_of)],
    type(...): lambda _, __: ["."],
}
_READERS: dict[str, Callable[[Names, Data], object]] = {
    "f": lambda names, data: names.functions[data[1]],
    "c": lambda names, data: names.classes[data[1]],
    "m": lambda names, data: names.modules[data[1]],
    "v": lambda names, data: names.classes[data[1]].known_virtual(data[2]),
    "p": lambda names, data: names.parameter(data[1], data[2]),
    "t": lambda names, data: tuple(map(names.thing, data[1:])),
    "s": lambda names, data: frozenset(map(names.thing, data[1:])),
    ".": lambda _, __: ...,
}
