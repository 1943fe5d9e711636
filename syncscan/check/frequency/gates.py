"""Gates: the statements of a function that run only if an option is on, and what they alone call."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from syncscan.check.frequency.guards import Body
from syncscan.check.frequency.options import IS_MEDIA, IS_POSITIVE, IS_SOMETHING, IS_TRUE, name_asked, public
from syncscan.check.frequency.regions import span
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, path_of, walk

_OF_TORCH = frozenset({"training", "requires_grad"})  # which modules and tensors have
# Inputs that some requests have, by the names that models of several modalities give them, without leading underscores.
_MEDIA = re.compile(
    r"""(?!\w*_(configs?|decoder|encoder|head|id|idx|index|layer|length|loss|model|module|net|proj\w*|processor|size|token|tower|weight)$)
    ((pixel|images?|videos?|audio|multi_?modal|mm)_\w+ | images | videos | audios | (input_)?multi_?modals?)""",
    re.VERBOSE,
)


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
    asked = (each for gate in gates if line in gate.lines for each in sorted(gate.options & off))
    return next(map(name_asked, asked), "")


def needs_media(line: int, gates: Iterable[Gate]) -> bool:
    """Return whether a line runs only for inputs with images, videos or sound."""
    return any(line in gate.lines and _is_of_media(gate) for gate in gates)


def names_with_media(gates: Iterable[Gate]) -> frozenset[str]:
    """Return the names that a function reads only for inputs with images, videos or sound."""
    behind, elsewhere = set[str](), set[str]()
    for gate in gates:
        (behind if _is_of_media(gate) else elsewhere).update(gate.names)
    return frozenset(behind - elsewhere)


def _is_of_media(gate: Gate) -> bool:
    return any(each.endswith(IS_MEDIA) for each in gate.options)


def needed_by_names(gates: Iterable[Gate], off: frozenset[str]) -> dict[str, str]:
    """Return the names that a function reads behind options that are off, and nowhere else, each with the option."""
    needed = [(gate.names, name_asked(min(gate.options & off, default=""))) for gate in gates]
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
                is_needed = leaves and (isinstance(node.body[-1], ast.Raise) or not _asks_for_none(node.test))
                found += filter(
                    None,
                    (_gate(node.test, node.body, True), _gate(node.test, rest, False, is_needed=is_needed)),
                )
            bodies += blocks_of(node)
    return found


def _gate(test: ast.expr, body: Body, holds: bool, *, is_needed: bool = False) -> _Open | None:
    """Return the gate of what runs where a test has the outcome ``holds``, in whole lines; None without an option.

    An input without which the function raises, or for which an empty batch is left out, ``is_needed``, is no option.
    """
    names = _needed(test, holds=holds)
    if is_needed:
        names = frozenset(each for each in names if not each.endswith(IS_MEDIA))
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
    if media := _media(test, holds=holds):
        return frozenset({media + IS_MEDIA})
    if isinstance(test, ast.Compare):
        return _asked_by(test, holds=holds)
    name = public(_option(test)) if holds else ""
    return frozenset({name} if name else ())


def _asks_for_none(test: ast.expr) -> bool:
    """Return whether a test asks for an input that is not there, rather than for an empty one."""
    other = test.comparators[0] if isinstance(test, ast.Compare) else None
    return other is None or (isinstance(other, ast.Constant) and other.value is None)


def _media(test: ast.expr, *, holds: bool) -> str:
    """Return the input of images, videos or sound that must be there for a test to have the outcome ``holds``, or "".

    An attribute of the object itself is a part of the model, and no input.
    """
    asked, is_there = test, True
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        is_none, operator = test.comparators[0].value is None, type(test.ops[0])
        found = (
            {ast.IsNot: True, ast.Is: False} if is_none else {ast.Gt: True, ast.NotEq: True, ast.Eq: False}
        )
        is_size = isinstance(test.left, ast.Call) and test.comparators[0].value == 0
        if operator not in found or not (is_none or is_size):
            return ""
        asked, is_there = test.left, found[operator]
    if isinstance(asked, ast.Call) and last_name(asked.func) == "len" and asked.args:
        asked = asked.args[0]
    path = path_of(asked)
    name = "" if path.startswith("self.") else public(path.rpartition(".")[2])
    return name if is_there is holds and _MEDIA.fullmatch(name) is not None else ""


_TESTS = {
    ast.IsNot: (IS_SOMETHING, True),
    ast.Is: (IS_SOMETHING, False),
    ast.Gt: (IS_POSITIVE, True),
    ast.NotEq: (IS_POSITIVE, True),
    ast.LtE: (IS_POSITIVE, False),
    ast.Eq: (IS_POSITIVE, False),
}


def _asked_by(test: ast.Compare, *, holds: bool) -> frozenset[str]:
    """Return the option that a comparison with None or zero asks for, as far as the outcome ``holds`` needs it."""
    name, other = public(_option(test.left)), test.comparators[-1]
    asked, needed = _TESTS.get(type(test.ops[0]), (IS_TRUE, False))
    constant = other.value if isinstance(other, ast.Constant) and len(test.ops) == 1 else ...
    is_plain = constant is None if asked == IS_SOMETHING else constant is not False and constant == 0
    return frozenset({name + asked} if name and asked and is_plain and needed is holds else ())


def _option(test: ast.expr) -> str:
    """Return the name of the attribute that a test reads, also by ``get()`` or `getattr`; "" for other tests."""
    if isinstance(test, ast.Call):
        is_asked = isinstance(test.func, ast.Attribute) and test.func.attr == "get" and not test.args
        if last_name(test.func) == "getattr":
            named, *default = [each.value for each in test.args[1:] if isinstance(each, ast.Constant)] or [""]
            return named if isinstance(named, str) and default in ([], [False], [None]) else ""
        return last_name(test.func.value) if isinstance(test.func, ast.Attribute) and is_asked else ""
    return test.attr if isinstance(test, ast.Attribute) and test.attr not in _OF_TORCH else ""
