"""Serialisation of the definitions in files, so that an unchanged file is parsed only for access to its nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from typing import Any

from syncscan.check.infer.kept.names import Data, Names
from syncscan.check.infer.kept.reading import NotKeptError, reading
from syncscan.check.infer.kept.unread import UnreadClass, UnreadFunction, UnreadModule
from syncscan.check.infer.source.index import Class, Function, Import, Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.trees import tree_of
from syncscan.check.nesting import parse_expression


def written_module(module: Module, names: Names) -> Data:
    """Serialise the definitions of a parsed module, with the relations of its classes and functions to the project."""
    own: dict[object, int] = {each: n for n, each in enumerate(module.functions)}
    own |= {each: -1 - n for n, each in enumerate(module.classes)}

    def definition(what: Function | Class | Import | None) -> Data:
        return [what.module, what.name] if isinstance(what, Import) else own.get(what) if what else None

    return [
        [[name, definition(what)] for name, what in module.names.items()],
        [sorted(module.globals), sorted(module.kept), sorted(module.makers)],
        [[name, ast.unparse(node)] for name, node in module.aliases.items()],
        [_function(each, own, definition) for each in module.functions],
        [_class(each, names, definition) for each in module.classes],
        names.numbers_in(module),
    ]


def _function(
    function: Function, own: dict[object, int], definition: Callable[[Function | Class | None], Data]
) -> Data:
    return [
        function.name,
        function.qualname,
        function.key,
        definition(function.owner),
        definition(function.parent),
        parameters_data(function),
        sorted(function.decorators),
        [[name, own[each]] for name, each in function.children.items()],
        sorted(function.global_names),
        sorted(function.nonlocal_names),
        function.is_generator,
        function.result is not None,
    ]


def _class(cls: Class, names: Names, definition: Callable[[Function | Class | None], Data]) -> Data:
    return [
        cls.name,
        cls.qualname,
        cls.key,
        definition(cls.parent),
        [[name, definition(each)] for name, each in cls.methods.items()],
        [[name, definition(each)] for name, each in cls.nested.items()],
        sorted(cls.stored),
        [*map(names.number, cls.bases)],
        cls.external_bases,
        [*map(names.number, cls.linear)],
        sorted(cls.decorators),
        sorted(cls.annotations),
    ]


def parameters_data(function: Function) -> Data:
    """Serialise the parameters of a function without annotations, and of a default what calls ask for, see `_DEFAULTS`."""
    return [[each.name, each.star, each.keyword_only, _default(each)] for each in function.parameters]


def parameters(data: Data) -> list[Parameter]:
    """Deserialise parameters."""
    return [
        Parameter(name, None, _DEFAULTS[default], star, keyword_only)
        for name, star, keyword_only, default in data
    ]


def _default(parameter: Parameter) -> int:
    if parameter.is_plain_by_default:
        return 2 + parameter.is_compared + 2 * parameter.is_flag
    return int(parameter.default is not None)


# By the serialised number: no default, a default whose source has not been read, None, a number or a text, and a truth value.
_DEFAULTS = (None, ast.Name("..."), ast.Constant(None), ast.Constant(0), ast.Constant(False))


class UnreadFile:
    """The text of a file that is not parsed yet; parsing calls the functions in ``then``."""

    def __init__(self, text: str, aliases: Data) -> None:
        self.then: list[Callable[[], None]] = []
        self.parameters: dict[Function, object] = {}  # as data, of those that have not been given them
        self.noting: list[Callable[[Function], None]] = []
        self.without_result: set[Function] = set()  # of which no result is declared
        self.annotated: dict[Class, Collection[str]] = {}  # the attributes that classes declare
        self._text = text
        self._aliases = aliases

    def give(self, function: Function) -> None:
        """Restore the parameters of a function."""
        function.take(parameters(self.parameters.pop(function)))
        for note in self.noting:
            note(function)

    def aliases(self) -> dict[str, ast.expr]:
        """Return the aliases of the module, see `Module.aliases`."""
        with reading():
            return {name: parse_expression(text) for name, text in self._aliases}

    def lines(self) -> Lines:
        """Return the lines of the file."""
        return Lines(self._text)

    def read(self, module: Module) -> None:
        """Parse the file, and attach its nodes to the module and its definitions."""
        with reading():
            for function in [*self.parameters]:
                self.give(function)
            now = index_module(
                module.name, module.path, tree_of(self._text), module.lines, is_package=module.is_package
            )
            module.tree, module.aliases = now.tree, now.aliases
            module.__class__ = Module
            for function, new in zip(module.functions, now.functions, strict=True):
                function.node, function.statement = new.node, None
                function.__class__ = Function
                place_parameters(function.parameters, new.parameters)
            for cls, found in zip(module.classes, now.classes, strict=True):
                cls.node, cls.annotations = found.node, found.annotations
                cls.__class__ = Class
            for work in self.then:
                work()


def place_parameters(parameters: Sequence[Parameter], now: Sequence[Parameter]) -> None:
    """Attach annotations and defaults from the source to restored parameters."""
    for parameter, new in zip(parameters, now, strict=True):
        parameter.annotation, parameter.default = new.annotation, new.default


def module_of(data: Data, name: str, path: str, text: str, *, is_package: bool) -> Module:
    """Return the module with these serialised definitions; its text is parsed on demand."""
    module = UnreadModule(name, path, None, [], is_package)  # type: ignore[arg-type]  # it is taken away again
    names, (names_set, _, _), aliases, functions, classes, _ = data
    module.unread = file = UnreadFile(text, aliases)
    del module.tree, module.lines, module.aliases
    for each in functions:
        function = _made_function(each, module)
        module.functions.append(function)
        if not each[11]:
            file.without_result.add(function)
        if each[5]:
            file.parameters[function] = each[5]
            del function.parameters, function.plain, function.rest, function.more, function.by_name
    for each in classes:
        cls = _made_class(each, module)
        file.annotated[cls] = each[11]
        module.classes.append(cls)
    module.body = module.functions[0]

    def definition(what: Data) -> Any:
        if what is None or isinstance(what, list):
            return what and Import(*what)
        return module.functions[what] if what >= 0 else module.classes[-1 - what]

    module.names.update((each, definition(what)) for each, what in names)
    module.globals.update(names_set)
    for function, each in zip(module.functions, functions, strict=True):
        function.owner, function.parent = definition(each[3]), definition(each[4])
        function.children = {name: definition(what) for name, what in each[7]}
    for cls, each in zip(module.classes, classes, strict=True):
        cls.parent = definition(each[3])
        cls.methods = {name: definition(what) for name, what in each[4]}
        cls.nested = {name: definition(what) for name, what in each[5]}
    return module


def _made_function(data: Data, module: Module) -> Function:
    name, qualname, key, _, _, _, _, _, names_set, names_around, is_generator, _ = data
    function = UnreadFunction(name, qualname, module, None)  # type: ignore[arg-type]  # its node is read when it is asked for
    del function.node, function.statement
    function.key = key
    function.global_names |= {*names_set}
    function.nonlocal_names |= {*names_around}
    function.is_generator = is_generator
    return function


def _made_class(data: Data, module: Module) -> Class:
    cls = UnreadClass(data[0], data[1], module, None)  # type: ignore[arg-type]  # as above
    del cls.node, cls.annotations
    cls.key = data[2]
    cls.stored.update(data[6])
    return cls


def link(modules: Sequence[Module], data: Sequence[Data], ends: Sequence[int]) -> Names:
    """Restore the relations between the definitions of modules, and return their numbers; raise NotKeptError where they differ.

    ``ends`` are the numbers that no definition has had, see `Names`.
    """
    names = Names()
    names.leave_out(ends)
    for module, of_module in zip(modules, data, strict=True):
        names.add_module(module, of_module[5])
    for module, of_module in zip(modules, data, strict=True):
        for function, each in zip(module.functions, of_module[3], strict=True):
            if module.unread is None and (function.qualname, function.key) != (each[1], each[2]):
                raise NotKeptError("not what was written")
            if each[6]:
                function.decorate(frozenset(each[6]))
        for cls, each in zip(module.classes, of_module[4], strict=True):
            cls.bases = [names.classes[number] for number in each[7]]
            cls.external_bases = each[8]
            cls.linear = [names.classes[number] for number in each[9]]
            cls.decorators = frozenset(each[10])
        _, kept, makers = of_module[1]
        module.kept, module.makers = frozenset(kept), frozenset(makers)
        module.is_linked = True
    for cls in (cls for module in modules for cls in module.classes):
        for base in cls.linear[1:]:
            base.subclasses.append(cls)
    return names
