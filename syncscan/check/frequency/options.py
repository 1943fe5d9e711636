"""Options that are off by default: ``config.check_finite``, ``args.penalty``.

An option is a Boolean field of a class of settings, or a flag of a command line or of the environment. The option is off if each
default in the project is False, and no code of the project says ``option=True``. No code may compute an attribute of this name
either. Then only a user can turn the option on, so the statements behind its test run in no step of the usual program.

The same holds for fields with the default None or zero to which no code of the project gives anything else.
Attributes that are set to such an option, ``self.checks = config.check_finite``, are off with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from syncscan.check.files import is_test
from syncscan.check.frequency.given import given_values, turned_on
from syncscan.check.frequency.guards import Body
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, walk

_SETTINGS = re.compile(r".*(Args|Arguments|Config|Configuration|Options|Params|Settings)")
_RECORDS = frozenset({"BaseModel", "BaseSettings", "Struct", "dataclass", "define"})
_OF_ENVIRONMENT = re.compile(r".*env.*", re.IGNORECASE)
_STATE = re.compile(r"_*(is|has|was|needs|requires)_")
_ASKS = re.compile(r"_*(all|any|bool|can|has|is|should|supports)(_.*)?|.*_available")


# The kind of a test, at the end of the name of an option: that the option is not None, that it is more than zero, or its truth.
IS_SOMETHING, IS_POSITIVE, IS_TRUE = "?", ">", ""
IS_MEDIA = "!"  # that an input is there which some requests have, whatever the options


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a module declares, and names that are no such options elsewhere.

    ``off`` has the options with the default False, ``unset`` those with None or zero, by the tests that fail for them.
    A name in ``on`` may be given True, or is a Boolean field of a record. A name in ``given`` may be given more than None or
    zero. ``read`` has the attributes that are set to another one's value, each with the name of that one.
    """

    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()
    unset: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    read: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, function: Function) -> Options:
        """Return the options of a module, for its body; no other function has any."""
        module = function.module
        if function is not module.body or module.is_outside or is_test(module.name):
            return cls()
        off, others = _declared(module)
        given, read = given_values(module.lines.text)
        unset, with_values = _fields(module)
        return cls(
            frozenset(off),
            frozenset(others.union(turned_on(module.lines.text))),
            frozenset(unset),
            frozenset(given | with_values),
            frozenset(read),
        )

    def with_values_of(self, names: Collection[str]) -> Options:
        """Return these options without the values that are given to other names than these."""
        return replace(self, given=frozenset(name for name in self.given if public(name) in names))


def off_by_default(options: Iterable[Options], others: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the names of the options that are off in a whole project, without other uses of these names.

    The attribute that holds an option may begin with an underscore, so leading underscores do not count.
    """
    off, on, unset, given, read = set[str](), set[str](), set[str](), set[str](), set[tuple[str, str]]()
    for each in options:
        off.update(map(public, each.off))
        on.update(map(public, each.on))
        unset.update(map(public, each.unset))
        given.update(map(public, each.given))
        read.update((public(name), public(origin)) for name, origin in each.read)
    on = on.union(*(map(public, names) for names in others))
    given |= on
    off = (off - on) | {asked for asked in unset if name_asked(asked) not in given}
    return frozenset(off.union(_read_alone(off, read, given)))


def _read_alone(off: set[str], read: set[tuple[str, str]], given: set[str]) -> Iterator[str]:
    """Yield the attributes that are set to options which are off, and to nothing else."""
    origins: dict[str, set[str]] = {}
    for name, origin in read:
        origins.setdefault(name, set()).add(origin)
    for name, found in origins.items():
        if name not in given:
            yield from (
                f"{name}{asked}"
                for asked in (IS_TRUE, IS_SOMETHING, IS_POSITIVE)
                if all(f"{origin}{asked}" in off for origin in found)
            )


def name_asked(asked: str) -> str:
    """Return the name of an option without the kind of the test."""
    return asked.rstrip(IS_SOMETHING + IS_POSITIVE)


def public(name: str) -> str:
    """Return the name of an option, which the attribute that holds it may write with leading underscores."""
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


def _fields(module: Module) -> tuple[set[str], set[str]]:
    """Return the fields of settings with the default None or zero, by the tests that fail for them, and fields of other values."""
    unset, given = set[str](), set[str]()
    for cls in module.classes:
        is_of_settings = _SETTINGS.fullmatch(cls.name) is not None
        for node in cls.node.body:
            if isinstance(node, ast.AnnAssign):
                name, default = last_name(node.target), _default_in(node.value)
                asked = _failing(default.value) if isinstance(default, ast.Constant) else ()
                if is_of_settings and not _STATE.match(name):
                    unset.update(f"{name}{each}" for each in asked)
                if not asked and not _is_off(node.value):
                    given.add(name)
    return unset, given


def _failing(default: object) -> tuple[str, ...]:
    """Return the tests that fail for the default None or zero; none for other defaults."""
    if default is None:
        return (IS_TRUE, IS_SOMETHING)
    return (IS_TRUE, IS_POSITIVE) if default == 0 and default is not False else ()


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
    default = _default_in(value)
    return isinstance(default, ast.Constant) and default.value is False


def _default_in(value: ast.expr | None) -> ast.expr | None:
    """Return the default of a field: of ``field(default=False)`` what the field begins with."""
    if isinstance(value, ast.Call):
        defaults = [keyword.value for keyword in value.keywords if keyword.arg == "default"] or value.args[:1]
        return _default_in(defaults[0]) if defaults else None
    return value


def _is_boolean(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "bool" for node in walk(annotation))
