"""Tests of options that are off by default: ``if self.config.check_finite``, ``if not envs.CHECKS.get(): return``.

An option is a Boolean field of a class of settings, or a flag of the environment. The option is off if each default in the
project is False, and no code of the project says ``option=True``. Only a user can turn the option on, so the statements
behind its test run in no step of the usual program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from syncscan.check.files import is_test
from syncscan.check.frequency.guards import Body
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, walk

_SETTINGS = re.compile(r".*(Args|Arguments|Config|Configuration|Options|Params|Settings)")
_RECORDS = frozenset({"BaseModel", "BaseSettings", "Struct", "dataclass", "define"})
_OF_ENVIRONMENT = re.compile(r".*env.*", re.IGNORECASE)
_STATE = re.compile(r"_*(is|has|was|needs|requires)_")
_OF_TORCH = frozenset({"training", "requires_grad"})  # which modules and tensors have
_IS_TRUE = re.compile(r"=\s*True\b")
_TARGET = re.compile(r"(?<![\w\"'])(\w+)\s*(?::[^=,()\n]*)?\Z")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a module declares with the default False, and names that are no such options elsewhere.

    A name in ``on`` is given True, or names a Boolean field of a record.
    """

    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()

    @classmethod
    def of(cls, function: Function) -> Options:
        """Return the options of a module, for its body; no other function has any."""
        module = function.module
        if function is not module.body or module.is_outside or is_test(module.name):
            return cls()
        off, of_records = _declared(module)
        return cls(frozenset(off), frozenset(of_records.union(_turned_on(module.lines.text))))


def off_by_default(options: Iterable[Options]) -> frozenset[str]:
    """Return the names of the options that are off in a whole project."""
    off, on = set[str](), set[str]()
    for each in options:
        off |= each.off
        on |= each.on
    return frozenset(off - on)


def _declared(module: Module) -> tuple[set[str], set[str]]:
    """Return the options of a module that are off by default, and the Boolean fields of records, which a program sets."""
    off, of_records = {*_flags_off(_statements(module.tree.body))}, set[str]()
    for cls in module.classes:
        (off if _holds_settings(cls) else of_records).update(_flags_off(cls.node.body))
        off.update(_of_environment(cls.node.body))
    return off, of_records


def _holds_settings(cls: Class) -> bool:
    """Return whether a class is named for settings, or is a record with a default for each field; a step has records without."""
    fields = [node for node in cls.node.body if isinstance(node, ast.AnnAssign)]
    has_all = _is_record(cls.node) and all(node.value is not None for node in fields)
    return has_all or _SETTINGS.fullmatch(cls.name) is not None


def _is_record(node: ast.ClassDef) -> bool:
    """Return whether a class is a record by its own statement. Bases in other files are not asked: each file is read alone."""
    decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return not _RECORDS.isdisjoint(map(last_name, (*decorators, *node.bases)))


def _statements(body: Body) -> Iterator[ast.stmt]:
    """Yield the statements at the top of a module, also below tests such as ``if TYPE_CHECKING``."""
    for node in body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
            for inner in blocks_of(node):
                yield from _statements(inner)


def _flags_off(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the annotated Boolean names in some statements whose default is False, but for states such as ``is_prefill``."""
    for node in body:
        if not isinstance(node, ast.AnnAssign) or not _is_off(node.value) or not _is_boolean(node.annotation):
            continue
        name = last_name(node.target)
        if name and not _STATE.match(name):
            yield name


def _of_environment(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names of flags of the environment whose default is False: ``CHECKS = EnvBool(False)``."""
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_off(node.value):
            name = last_name(node.targets[0])
            if name and _OF_ENVIRONMENT.fullmatch(last_name(node.value.func)):
                yield name


def _is_off(value: ast.expr | None) -> bool:
    """Return whether a default is False: a constant, or that of a field such as ``field(default=False)``."""
    if isinstance(value, ast.Call):
        defaults = [keyword.value for keyword in value.keywords if keyword.arg == "default"] or value.args[:1]
        return any(map(_is_off, defaults))
    return isinstance(value, ast.Constant) and value.value is False


def _is_boolean(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "bool" for node in walk(annotation))


def _turned_on(text: str) -> Iterator[str]:
    """Yield the names to which the source gives True, by a default, an assignment or an argument."""
    for match in _IS_TRUE.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start()]
        target = None if "#" in before else _TARGET.search(before)
        if target is not None:
            yield target[1]


@dataclass(frozen=True, slots=True)
class Gate:
    """Lines of a function behind a test that options decide, and the names of what only these lines call.

    One option that is off keeps the lines from running.
    """

    options: frozenset[str]
    lines: range
    calls: frozenset[str]


def needed_at(line: int, gates: Iterable[Gate], off: frozenset[str]) -> str:
    """Return an option that is off and without which a line does not run, or ""."""
    names = (name for gate in gates if line in gate.lines for name in sorted(gate.options & off))
    return next(names, "")


def needed_by_calls(gates: Iterable[Gate], off: frozenset[str]) -> dict[str, str]:
    """Return the names of what is called behind options that are off alone, each with the option."""
    needed = [(gate.calls, gate.options & off) for gate in gates]
    return {name: min(options) for calls, options in needed if options for name in calls}


def gates_of(function: Function) -> list[Gate]:
    """Return the statements of a function that tests of options guard; outer ones first."""
    if isinstance(function.node, ast.Lambda):
        return []
    found = [(names, body) for names, body in _gated(function.node.body) if names]
    spans = [range(body[0].lineno, (body[-1].end_lineno or 0) + 1) for _, body in found]
    calls = [*_calls_in(function.node)] if found else []
    elsewhere = {name for line, name in calls if not any(line in span for span in spans)}
    return [
        Gate(names, span, frozenset(name for line, name in calls if line in span) - elsewhere)
        for (names, _), span in zip(found, spans, strict=True)
    ]


def _calls_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line of each call, and the name that is called."""
    for each in walk(node):
        if isinstance(each, ast.Call):
            function = each.func
            yield each.lineno, function.attr if isinstance(function, ast.Attribute) else last_name(function)


def _gated(body: Body) -> Iterator[tuple[frozenset[str], Body]]:
    """Yield the bodies behind the tests in some statements, each with the options that must be on."""
    for position, node in enumerate(body, 1):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.If):
            leaves = not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue, ast.Raise))
            rest = body[position:] if leaves else node.orelse
            for inner, holds in ((node.body, True), (rest, False)):
                if inner:
                    yield _needed(node.test, holds=holds), inner
        for inner in blocks_of(node):
            yield from _gated(inner)


def _needed(test: ast.expr, *, holds: bool) -> frozenset[str]:
    """Return options without which a test does not have the outcome ``holds``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _needed(test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp):
        parts = [_needed(part, holds=holds) for part in test.values]
        combine: Callable[..., frozenset[str]] = (
            frozenset.union if isinstance(test.op, ast.And) is holds else frozenset.intersection
        )
        return combine(*parts)
    name = _option(test) if holds else ""
    return frozenset({name} if name else ())


def _option(test: ast.expr) -> str:
    """Return the name of the attribute that a test reads, also by ``get()`` or `getattr`; "" for other tests."""
    if isinstance(test, ast.Call):
        is_asked = isinstance(test.func, ast.Attribute) and test.func.attr == "get" and not test.args
        named = test.args[1] if last_name(test.func) == "getattr" and len(test.args) > 1 else None
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            return named.value
        return last_name(test.func.value) if isinstance(test.func, ast.Attribute) and is_asked else ""
    return test.attr if isinstance(test, ast.Attribute) and test.attr not in _OF_TORCH else ""
