"""The calls of a project that may register operations with torch; `registered` has the forms that are followed."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.syntax import last_name, walk
from syncscan.syntax.names import dotted_name

# More functions may run for such an operation: kernels of other devices, and what prepares a backward pass.
ADDS = re.compile(r"register_(kernel|autograd|torch_dispatch|vmap)|setup_context|device_types")
_REGISTERS = "custom_op"  # in the names of functions that register an operation
_PAIR = 2  # a name and a function


class Helper(NamedTuple):
    """A function that registers one argument under another, each by its parameter and its position."""

    name: str
    parameters: tuple[str, str]
    positions: tuple[int, int]


class PartialHelper(NamedTuple):
    """A name for ``partial(function, ...)`` of a function that registers operations, and the parameters given there already."""

    function: ast.expr
    given: frozenset[str]


class HandedOn(NamedTuple):
    """The last names of what a file may register operations with under another name."""

    functions: frozenset[str]  # that the file reads and does not call at once, or imports under another name
    libraries: frozenset[str]  # whose ``impl`` the file reads and does not call at once
    made: frozenset[str]  # libraries that the file makes, for others to be asked for

    @classmethod
    def of(
        cls, nodes: Sequence[ast.AST], assigned: Iterable[ast.Assign], known: Container[ast.AST]
    ) -> HandedOn:
        """Return the functions and libraries that a file hands on. The functions in ``known`` do not count: their partials are followed."""
        read = _not_called(nodes, known)
        made = [target for each in assigned if _made_by(each.value) is not None for target in each.targets]
        impls = [each.value for each in read if isinstance(each, ast.Attribute) and each.attr == "impl"]
        functions = frozenset([*map(last_name, read), *_renamed(nodes)])
        return cls(functions, frozenset(map(last_name, impls)), frozenset(map(last_name, made)))


class File(NamedTuple):
    """A file that may register operations, and its calls that may."""

    module: Module
    partials: dict[str, PartialHelper]  # by their names
    calls: list[ast.Call]
    helpers: list[Helper]
    computed: list[set[str]]  # the libraries, of each registration under a computed name; none if unknown
    libraries: dict[ast.Call, set[str] | None]  # of calls of ``impl`` with a name
    handed: HandedOn

    @classmethod
    def of(cls, module: Module) -> File:
        """Read the calls of a file."""
        nodes = walk(module.tree)
        partials = dict(_partials(module, nodes))
        calls = [each for each in nodes if isinstance(each, ast.Call) and _may_register(each, partials)]
        assigned = [each for each in nodes if isinstance(each, ast.Assign)]
        handed = HandedOn.of(nodes, assigned, {each.function for each in partials.values()})
        unknown = [set[str]() for _ in filter(_registers, handed.functions)]
        found = cls(module, partials, calls, [], unknown, {}, handed)
        for call in filter(is_impl, calls):
            helper = None if isinstance(call.args[0], ast.Constant) else _helper_around(module, call)
            if isinstance(call.args[0], ast.Constant):
                found.libraries[call] = _libraries_of(call, assigned)
            elif helper is not None:
                found.helpers.append(helper)
            else:
                found.computed.append(_libraries_of(call, assigned) or set())
        return found

    def open_to(
        self, texts: Iterable[tuple[Module, str]], helpers: Iterable[Helper], made: frozenset[str]
    ) -> None:
        """Add the registrations that are not followed, which may be of any operation, in the light of the whole project.

        These are calls of a partial in another file, whose text names the partial, and what this file hands on.
        """
        others = (text for module, text in texts if module is not self.module) if self.partials else ()
        named = [name for text in others for name in self.partials if name in text]
        handed = [helper for helper in helpers if helper.name in self.handed.functions]
        self.computed.extend(set() for _ in (*named, *handed, *self.handed.libraries & made))


class Registrations:
    """The calls of a whole project that may register operations."""

    def __init__(self, modules: Sequence[Module]) -> None:
        texts = [(module, module.lines.text) for module in modules]
        self.known: dict[str, Any] = {}  # what `registered` found for an operation
        self.files = [File.of(each) for each, text in texts if _REGISTERS in text or ".impl" in text]
        self.helpers = [helper for file in self.files for helper in file.helpers]
        made = frozenset[str]().union(*(file.handed.made for file in self.files))
        for file in self.files:
            file.open_to(texts, self.helpers, made)
        # These may add kernels to an operation that they name.
        self.adding = [text for _, text in texts if ADDS.search(text)]


def _may_register(call: ast.Call, partials: Container[str]) -> bool:
    called = last_name(call.func)
    return called == "impl" or _REGISTERS in called or called in partials


def _partials(module: Module, nodes: Sequence[ast.AST]) -> Iterator[tuple[str, PartialHelper]]:
    """Yield the partials of functions that register operations, made at the top of a file under a name that is only called.

    The name stands nowhere else in the text of the file, so no text, attribute or pattern reads or binds the name.
    """
    if not _is_of_python(module, nodes):
        return
    called = {each.func for each in nodes if isinstance(each, ast.Call)}
    for node in module.tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(name) as target], value=ast.Call(args=[function], keywords=given) as call
            ) if dotted_name(call.func) == "functools.partial" and _registers(last_name(function)):
                named = {each for each in nodes if isinstance(each, ast.Name) and each.id == name}
                count = len(re.findall(rf"\b{name}\b", module.lines.text))
                keywords = [each.arg for each in given if each.arg is not None]
                if named <= called | {target} and count == len(named) and len(keywords) == len(given):
                    yield name, PartialHelper(function, frozenset(keywords))


def _is_of_python(module: Module, nodes: Iterable[ast.AST]) -> bool:
    """Return whether ``functools`` is Python's in a file: one import at the top binds the name, and nothing else in the text does."""
    is_imported = any(
        isinstance(node, ast.Import) and [*map(ast.unparse, node.names)] == ["functools"]
        for node in module.tree.body
    )
    named = [each for each in nodes if isinstance(each, ast.Name) and each.id == "functools"]
    count = len(re.findall(r"\bfunctools\b", module.lines.text))
    return is_imported and count == len(named) + 1 and all(isinstance(each.ctx, ast.Load) for each in named)


def _not_called(nodes: Sequence[ast.AST], known: Container[ast.AST]) -> list[ast.Name | ast.Attribute]:
    """Return the names and attributes that a file reads and does not call at once, without those in ``known``."""
    called = {each.func for each in nodes if isinstance(each, ast.Call)}
    return [
        each
        for each in nodes
        if isinstance(each, (ast.Name, ast.Attribute)) and each not in called and _is_read(each, known)
    ]


def _renamed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the functions that imports anywhere in a file bind to a name that does not say that they register."""
    for node in nodes:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            if alias.asname is not None and not _registers(alias.asname):
                yield alias.name


def _is_read(node: ast.Name | ast.Attribute, known: Container[ast.AST]) -> bool:
    return isinstance(node.ctx, ast.Load) and node not in known


def _registers(name: str) -> bool:
    """Return whether a function registers an operation, by its name."""
    return name == _REGISTERS or (_REGISTERS in name and "register" in name)


def _helper_around(module: Module, call: ast.Call) -> Helper | None:
    """Return the helper whose parameters a call of ``impl`` is given; None for calls in other functions."""
    for function in module.functions:
        parameters = [each.name for each in function.parameters]
        named = [each.id for each in call.args[:2] if isinstance(each, ast.Name) and each.id in parameters]
        if _REGISTERS in function.name and len(named) == _PAIR and call in [*walk(function.node)]:
            names = [each for each in walk(function.node) if isinstance(each, ast.Name) and each.id in named]
            if all(isinstance(each.ctx, ast.Load) for each in names) and function.owner is None:
                return Helper(
                    function.name,
                    (named[0], named[1]),
                    (parameters.index(named[0]), parameters.index(named[1])),
                )
    return None


def is_impl(call: ast.Call) -> bool:
    """Return whether a call is one of ``impl`` with a name and a function."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "impl" and len(call.args) > 1


def _libraries_of(call: ast.Call, assigned: Sequence[ast.Assign]) -> set[str] | None:
    """Return the libraries that the receiver of ``impl`` may be, by all assignments of its name in the file; None if one is unknown."""
    assert isinstance(call.func, ast.Attribute)
    found, names = set[str](), [dotted_name(call.func.value)]
    for name in names:  # which grows meanwhile
        values = [each.value for each in assigned if name in map(dotted_name, each.targets)]
        if not values:
            return None
        for value in values:
            if isinstance(value, ast.Name):
                names += [value.id] if value.id not in names else []
            elif (library := _made_by(value)) is not None:
                found.add(library)
            else:
                return None
    return found


def _made_by(value: ast.expr) -> str | None:
    """Return the name of the library that ``Library("own", "FRAGMENT")`` makes; None for other values."""
    named = value.args[0] if isinstance(value, ast.Call) and value.args else None
    is_made = isinstance(value, ast.Call) and last_name(value.func) == "Library"
    return (
        named.value if is_made and isinstance(named, ast.Constant) and isinstance(named.value, str) else None
    )
