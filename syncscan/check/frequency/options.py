"""Tests of options that are off by default: ``if self.config.check_finite``, ``if not envs.CHECKS.get(): return``.

An option is a Boolean field of a class of settings, or a flag of a command line or of the environment. The option is off if each
default in the project is False, and no code of the project says ``option=True``. No code may compute an attribute of this name
either. Then only a user can turn the option on, so the statements behind its test run in no step of the usual program.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from syncscan.check.files import is_test
from syncscan.check.frequency.guards import Body
from syncscan.check.frequency.regions import span
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, walk

_SETTINGS = re.compile(r".*(Args|Arguments|Config|Configuration|Options|Params|Settings)")
_RECORDS = frozenset({"BaseModel", "BaseSettings", "Struct", "dataclass", "define"})
_OF_ENVIRONMENT = re.compile(r".*env.*", re.IGNORECASE)
_STATE = re.compile(r"_*(is|has|was|needs|requires)_")
_OF_TORCH = frozenset({"training", "requires_grad"})  # which modules and tensors have
_ASKS = re.compile(r"_*(all|any|bool|can|has|is|should|supports)(_.*)?|.*_available")
_IS_TRUE = re.compile(r"[=:,(]\s*True\b")
# The `x` of `x=`, `x: bool =` and `"x":`.
_NAMED = re.compile(r"(?<![\w\"'])(\w+)\s*(?::[^=]*)?[=,]|[\"'](\w+)[\"']\s*[:,]")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a module declares with the default False, and names that are no such options elsewhere.

    A name in ``on`` may be given True, or is a Boolean field of a record.
    """

    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()

    @classmethod
    def of(cls, function: Function) -> Options:
        """Return the options of a module, for its body; no other function has any."""
        module = function.module
        if function is not module.body or module.is_outside or is_test(module.name):
            return cls()
        off, others = _declared(module)
        return cls(frozenset(off), frozenset(others.union(_turned_on(module.lines.text))))


def off_by_default(options: Iterable[Options], others: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the names of the options that are off in a whole project, without other uses of these names.

    The attribute that holds an option may begin with an underscore, so leading underscores do not count.
    """
    off, on = set[str](), set[str]()
    for each in options:
        off.update(map(_public, each.off))
        on.update(map(_public, each.on))
    return frozenset(off - on).difference(*(map(_public, names) for names in others))


def _public(name: str) -> str:
    return name.lstrip("_")


def computed_by(function: Function) -> frozenset[str]:
    """Return the attributes and keywords to which statements of a function give a computed truth: these are no options."""
    found: set[str] = set()
    for node in [] if isinstance(function.node, ast.Lambda) else _statements(function.node.body):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign) and _is_truth(node.value):
            found.update(target.attr for target in node.targets if isinstance(target, ast.Attribute))
        if isinstance(value, ast.Call):
            found.update(
                each.arg for each in value.keywords if each.arg is not None and _is_truth(each.value)
            )
    return frozenset(found)


def _is_truth(value: ast.expr) -> bool:
    is_answer = isinstance(value, ast.Call) and _ASKS.fullmatch(last_name(value.func)) is not None
    return is_answer or isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp))


def _declared(module: Module) -> tuple[set[str], set[str]]:
    """Return the options of a module that are off by default, and Boolean names with other defaults or of other records.

    Programs assign to the fields of those records, which hold per-step state.
    """
    bodies: list[tuple[Body, bool]] = [([*_statements(module.tree.body)], True)]
    bodies += [(cls.node.body, _holds_settings(cls)) for cls in module.classes]
    off, others = set[str](), set[str]()
    for body, is_of_settings in bodies:
        for name, is_off in _flags(body):
            (off if is_off and is_of_settings else others).add(name)
        for name, is_off in _of_environment(body):
            (off if is_off else others).add(name)
    for name, is_off in _of_command_line(module):
        (off if is_off else others).add(name)
    return {name for name in off if not _STATE.match(name)}, others


def _holds_settings(cls: Class) -> bool:
    """Return whether a class is named for settings, or is a record whose fields all have defaults; those with per-step state have not."""
    fields = [node for node in cls.node.body if isinstance(node, ast.AnnAssign)]
    has_all = _is_record(cls.node) and all(node.value is not None for node in fields)
    return has_all or _SETTINGS.fullmatch(cls.name) is not None


def _is_record(node: ast.ClassDef) -> bool:
    """Return whether a class is a record by its own statement. Bases in other files are not asked: each file is read alone."""
    decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return not _RECORDS.isdisjoint(map(last_name, (*decorators, *node.bases)))


def _statements(body: Body) -> Iterator[ast.stmt]:
    """Yield the statements at the top of a module, also below tests such as ``if TYPE_CHECKING``."""
    bodies = [body]
    for each in bodies:  # which grows meanwhile
        for node in each:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield node
                bodies += blocks_of(node)


def _flags(body: Iterable[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Yield the annotated Boolean names in some statements, each with whether its default is False."""
    for node in body:
        if isinstance(node, ast.AnnAssign) and _is_boolean(node.annotation):
            yield last_name(node.target), _is_off(node.value)


def _of_environment(body: Iterable[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Yield the names of flags of the environment, ``CHECKS = EnvBool(False)``, each with whether its default is False."""
    for node in body:
        targets, value = (node.targets, node.value) if isinstance(node, ast.Assign) else ([], None)
        if isinstance(value, ast.Call) and _OF_ENVIRONMENT.fullmatch(last_name(value.func)):
            yield from ((last_name(target), _is_off(value)) for target in targets)


def _of_command_line(module: Module) -> Iterator[tuple[str, bool]]:
    """Yield the flags of command lines, ``add_argument("--check", action="store_true")``, each with whether its default is False."""
    if not module.lines.mention("add_argument"):
        return
    for node in walk(module.tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
            given = {each.arg: each.value for each in node.keywords}
            action = _text_in(given.get("action"))
            flags = [flag for flag in map(_text_in, node.args) if flag.startswith("--")]
            name = _text_in(given.get("dest")) or "".join(flags[:1]).lstrip("-")
            if name and action in {"store_true", "store_false"}:
                is_off = action == "store_true" and ("default" not in given or _is_off(given["default"]))
                yield name.rpartition(".")[2].replace("-", "_"), is_off


def _text_in(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_off(value: ast.expr | None) -> bool:
    """Return whether a default is False: a constant, or that of a field such as ``field(default=False)``."""
    if isinstance(value, ast.Call):
        defaults = [keyword.value for keyword in value.keywords if keyword.arg == "default"] or value.args[:1]
        return any(map(_is_off, defaults))
    return isinstance(value, ast.Constant) and value.value is False


def _is_boolean(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "bool" for node in walk(annotation))


def _turned_on(text: str) -> Iterator[str]:
    """Yield the names to which the source gives True by a default, an assignment, an argument or a key, and names beside them.

    A name too many costs a label; a missing one would call an option off that is on. So trailing comments count, too.
    """
    for match in _IS_TRUE.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start() + 1]
        if not before.lstrip().startswith("#"):
            yield from (name or key for name, key in _NAMED.findall(before))


@dataclass(frozen=True, slots=True)
class Gate:
    """Lines of a function that run if all of some options are on, and the names that these lines and no gate inside read.

    The last gate of a function has no options, and the names outside of all gates.
    """

    options: frozenset[str]
    lines: range
    names: frozenset[str]


def needed_at(line: int, gates: Iterable[Gate], off: frozenset[str]) -> str:
    """Return an option that is off and without which a line does not run, or ""."""
    names = (name for gate in gates if line in gate.lines for name in sorted(gate.options & off))
    return next(names, "")


def needed_by_names(gates: Iterable[Gate], off: frozenset[str]) -> dict[str, str]:
    """Return the names that a function reads behind options that are off, and nowhere else, each with the option."""
    needed = [(gate.names, min(gate.options & off, default="")) for gate in gates]
    elsewhere = frozenset[str]().union(*(names for names, option in needed if not option))
    return {name: option for names, option in needed if option for name in names - elsewhere}


def gates_of(function: Function) -> list[Gate]:
    """Return the statements of a function that tests of options guard; outer ones first."""
    if isinstance(function.node, ast.Lambda):
        return []
    found = sorted(_gated(function.node.body), key=lambda each: (each.lines.start, -each.lines.stop))
    if not found:
        return []
    outside, coming, around = set[str](), deque(found), list[_Open]()
    for line, name in sorted(_read_in(function.node)):  # bodies nest: the one begun last is the innermost
        while coming and coming[0].lines.start <= line:
            _enter(coming.popleft(), around)
        _leave(around, line)
        (around[-1].names if around else outside).add(name)
    inside = set[str]().union(*(each.names for each in found))
    gates = [Gate(frozenset(each.options), each.lines, frozenset(each.names)) for each in found]
    return [*gates, Gate(frozenset(), range(0), frozenset(outside & inside))]


@dataclass(slots=True)
class _Open:
    """A gate whose names are being collected."""

    options: frozenset[str]
    lines: range
    names: set[str] = field(default_factory=set)


def _enter(gate: _Open, around: list[_Open]) -> None:
    """Begin a gate, which also needs the options of those around it."""
    _leave(around, gate.lines.start)
    if around:
        gate.options |= around[-1].options
    around.append(gate)


def _leave(around: list[_Open], line: int) -> None:
    """End the gates that a line is behind."""
    while around and around[-1].lines.stop <= line:
        around.pop()


def _read_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line of each name and attribute that a function reads, and the name: a call, or a function handed on."""
    for each in walk(node):
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield each.end_lineno or 0, last_name(each)


def _gated(body: Body) -> list[_Open]:
    """Return the bodies behind the tests in some statements for which options must be on."""
    found, bodies = list[_Open](), [body]
    for each in bodies:  # which grows meanwhile
        for position, node in enumerate(each, 1):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(node, ast.If):
                leaves = not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue, ast.Raise))
                rest = each[position:] if leaves else node.orelse
                found += filter(None, (_gate(node.test, node.body, True), _gate(node.test, rest, False)))
            bodies += blocks_of(node)
    return found


def _gate(test: ast.expr, body: Body, holds: bool) -> _Open | None:
    """Return the gate of what runs where a test has the outcome ``holds``, in whole lines; None without an option."""
    names = _needed(test, holds=holds)
    return _Open(names, span(body)) if names and body and body[0].lineno > test.lineno else None


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
    name = _public(_option(test)) if holds else ""
    return frozenset({name} if name else ())


def _option(test: ast.expr) -> str:
    """Return the name of the attribute that a test reads, also by ``get()`` or `getattr`; "" for other tests."""
    if isinstance(test, ast.Call):
        is_asked = isinstance(test.func, ast.Attribute) and test.func.attr == "get" and not test.args
        if last_name(test.func) == "getattr":
            named, *default = [each.value for each in test.args[1:] if isinstance(each, ast.Constant)] or [""]
            return named if isinstance(named, str) and default in ([], [False], [None]) else ""
        return last_name(test.func.value) if isinstance(test.func, ast.Attribute) and is_asked else ""
    return test.attr if isinstance(test, ast.Attribute) and test.attr not in _OF_TORCH else ""
