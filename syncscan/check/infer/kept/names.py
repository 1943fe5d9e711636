"""Numbers for the definitions of a project, independent of where its source lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.kept.unread import UnreadClass, UnreadFunction, UnreadModule
from syncscan.check.infer.source.index import Class, Function, Module, Parameter, Virtual

Data = Any  # what JSON holds


text_of = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode  # data as one line


class Names:
    """The modules, functions and classes of a project in order, and the lambdas that the analysis has met."""

    def __init__(self, modules: Sequence[Module], lambdas: Sequence[Function] = ()) -> None:
        self.modules = [*modules]
        self.functions = [function for module in modules for function in module.functions]
        self.classes = [cls for module in modules for cls in module.classes]
        self._numbers: dict[object, int] = {}
        self._parameters: dict[Parameter, tuple[int, int]] = {}
        self._given: dict[int, list[Parameter]] = {}  # of each function, as they are now
        for things in (self.modules, self.classes):
            self._numbers.update({thing: number for number, thing in enumerate(things)})
        for module in modules:
            if module.unread is not None:
                module.unread.noting.append(self._note)
        self._add(self.functions, 0)
        self.defined = len(self.functions)
        for function in lambdas:
            self.add(function)

    def add(self, function: Function) -> None:
        """Number one more function, a lambda."""
        self._add([function], len(self.functions))
        self.functions.append(function)

    def _add(self, functions: Sequence[Function], first: int) -> None:
        for number, function in enumerate(functions, first):
            self._numbers[function] = number
            unread = function.module.unread
            if unread is None or function not in unread.parameters:
                self._note(function)

    def _note(self, function: Function) -> None:
        """Number the parameters of a function."""
        number = self._numbers[function]
        self._given[number] = function.parameters
        for position, parameter in enumerate(function.parameters):
            self._parameters[parameter] = number, position

    def parameter(self, number: int, position: int) -> Parameter:
        """Return the parameter at a position of the function with this number."""
        if number not in self._given:
            assert self.functions[number].parameters  # which are noted as they are asked for
        return self._given[number][position]

    def number(self, thing: Module | Class | Function) -> int:
        """Return the number of a definition among those of its sort; raise NotKeptError outside the project."""
        number = self._numbers.get(thing)
        if number is None:
            raise NotKeptError(f"{thing.key} is no part of the project")
        return number

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
