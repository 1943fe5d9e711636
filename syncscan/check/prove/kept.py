"""Walks as plain data, with all that each computation read: a later proof of the project takes over what still holds.

A computation depends on the file of its definition, on the outlines of all files, and on the answers that the computation read.
A later proof asks the same questions again, in its own order of computations. Equal answers give the kept result, so a proof with
kept walks equals a proof without them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.kept.lines import KeptLines, Part, Parts, in_parts
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.check.infer.kept.reading import NotKeptError, reading
from syncscan.check.infer.kept.values import ValueReader, ValueWriter
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.persistence.state import SavedState, written
from syncscan.check.prove.answer import Group
from syncscan.check.prove.outline import Outline
from syncscan.check.prove.ran import Ran
from syncscan.check.prove.source import Asked, Definitions, Question, Solved
from syncscan.check.prove.walk import Obstacle, SourceRange, Walk

Node = Function | tuple[Class, str]  # a walk, or an attribute
Read = Function | tuple[Class, str] | Question
_MOST_CHANGED = 64  # files, beyond which all is computed anew
_SORTS = {each.value: each for each in Asked}


class Computation(NamedTuple):
    """One computation of a node: each read with the answer, the result, and the assumptions that it used."""

    reads: list[tuple[Read, Any]]
    found: Any
    used: list[str]


class KeptComputation(NamedTuple):
    """A computation as numbers: of each read and the signature of its answer, of the result, and of the obstacles."""

    reads: list[int]
    signature: int
    used: list[str]
    body: int
    lacks: bool


class KeptWalk(Walk):
    """A walk whose summary and obstacles are read when they are asked for."""

    __slots__ = ("_fill", "_lacks")

    def __init__(self, function: Function, fill: Callable[[Walk, str], None], *, lacks: bool) -> None:
        """Take ``fill``, which restores the attribute of a name."""
        self.function, self.is_open, self._fill, self._lacks = function, False, fill, lacks

    @property
    def lacks(self) -> bool:
        """Return whether a value is not computed, without restoring the values."""
        return self._lacks

    def __getattr__(self, name: str) -> Any:
        """Restore an attribute on its first access."""
        if name not in _OF_A_WALK:
            raise AttributeError(name)
        self._fill(self, name)
        return getattr(self, name)


_OF_A_BODY = frozenset({"obstacles", "call_lines", "assumed"})
_OF_A_WALK = _OF_A_BODY | {"returned", "swallows", "bound", "stored", "filled", "passed", "is_partial"}


class _Values(ValueWriter):
    """The numbers of values, which begin with kept lines."""

    def __init__(self, names: Names, lines: Iterable[str]) -> None:
        super().__init__(names, ValueReader(names, Parts({})))
        self.lines += lines
        self._known = {line: number for number, line in enumerate(self.lines)}

    def __missing__(self, value: AbstractValue) -> int:
        """Return the number of the kept line of a value, or of a new line."""
        line = text_of(self._data(value))
        number = self[value] = self._known.setdefault(line, len(self.lines))
        if number == len(self.lines):
            self.lines.append(line)
        return number

    def _payload(self, payload: object) -> Data:
        if isinstance(payload, tuple) and len(payload) == 2 and isinstance(payload[1], AbstractValue):
            return ["k", payload[0], self[payload[1]]]  # the keys of a dictionary
        return super()._payload(payload)


class _KeptValues(ValueReader):
    """The values by number."""

    def _payload(self, data: Data) -> object:
        return (
            (data[1], self[data[2]]) if isinstance(data, list) and data[0] == "k" else super()._payload(data)
        )


class Signatures:
    """The numbers of answers: equal numbers stand for equal answers, those of an earlier proof too."""

    def __init__(self, names: Names, values: Iterable[str] = (), lines: Iterable[str] = ()) -> None:
        """Begin with kept lines."""
        self._names = names
        self.values = _Values(names, values)
        self.lines: dict[str, int] = {line: number for number, line in enumerate(lines)}
        self._of: dict[int, tuple[Any, int]] = {}  # of walks and lists, by identity

    def of(self, answer: Any) -> int:
        """Return the number of an answer; NotKeptError where it has no form as data."""
        if not isinstance(answer, (Walk, list)):
            return self._number(self._data(answer))
        if isinstance(answer, Walk) and answer.is_open:
            raise NotKeptError("a function that the proof could not follow")
        known = self._of.get(id(answer))
        if known is not None:
            return known[1]
        data = self._summary(answer) if isinstance(answer, Walk) else self._data(answer)
        return self.note(answer, self._number(data))

    def note(self, answer: Walk | list[Any], number: int) -> int:
        """Note the number of an answer that many computations read."""
        self._of[id(answer)] = answer, number
        return number

    def _number(self, data: Data) -> int:
        return self.lines.setdefault(text_of(data), len(self.lines))

    def _data(self, answer: Any) -> Data:
        """Return an attribute's value, or the answer to a question, as data."""
        if isinstance(answer, AbstractValue):
            return self.values[answer]
        if isinstance(answer, list):
            return [self._names.data(each) for each in answer]
        return answer

    def _summary(self, walk: Walk) -> Data:
        """Return the part of a walk that readers see, as data."""
        values = self.values
        return [
            values[walk.returned],
            walk.swallows,
            [[name, values[value]] for name, value in sorted(walk.bound.items())],
            *(
                [[name, [[values[base], values[value]] for base, value in stores]] for name, stores in sorted(each.items())]
                for each in (walk.stored, walk.filled)
            ),
            [
                [
                    self._names.number(function),
                    [[*lines, [[name, values[each]] for name, each in sorted(given.items())]] for lines, given in calls.items()],
                ]
                for function, calls in walk.passed.items()
            ],
            walk.is_partial,
        ]  # fmt: skip


class WalkWriter:
    """Serialise the computations of a proof."""

    def __init__(self, definitions: Definitions, ran: Ran) -> None:
        self._definitions = definitions
        self._ran = ran
        self._names = Names(definitions.modules)
        self._defined = _digest_of(self._names)
        self._lambdas = sorted(definitions.scopes.all_lambdas(), key=_depth)
        for function in self._lambdas:
            self._names.add(function)
        self._signatures = Signatures(self._names)
        self._nodes: dict[str, int] = {}
        self._bodies: dict[str, int] = {}

    def data(self, computed: Mapping[Node, list[Computation]]) -> bytes:
        """Return all computations as bytes; those without a form as data are left out."""
        lines = {self._node(node): self._computations(found) for node, found in computed.items()}
        return written(self._parts(lines, computed), ())

    def _parts(self, lines: Mapping[int, str], computed: Iterable[Node]) -> Iterator[Part]:
        names, modules = self._names, self._definitions.modules
        yield "definitions", self._defined
        yield (
            "files",
            text_of([[each.path, _digest(each.lines.text), self._outline(each)] for each in modules]),
        )
        yield "outlines", text_of([self._definitions.outline(each).data() for each in modules])
        yield "forms", text_of([self._definitions.forms.data(each) for each in modules])
        yield "lambdas", text_of([self._lambda(each) for each in self._lambdas])
        yield "nodes", "\n".join(self._nodes)
        yield (
            "lines",
            text_of([[names.number(each), line_of(each)] for each in computed if isinstance(each, Function)]),
        )
        yield from in_parts("computations", (lines.get(number, "[]") for number in range(len(self._nodes))))
        yield from in_parts("bodies", self._bodies)
        yield from in_parts("signatures", self._signatures.lines)
        yield from in_parts("values", filter(None, self._signatures.values.lines))

    def _outline(self, module: Module) -> str:
        return self._definitions.outline(module).digest(module, self._ran)

    def _lambda(self, function: Function) -> Data:
        number = self._names.number
        return [function.key, number(function.module), function.parent and number(function.parent)]

    def _node(self, read: Read) -> int:
        return self._nodes.setdefault(text_of(_data_of(read, self._names)), len(self._nodes))

    def _computations(self, found: Iterable[Computation]) -> str:
        return text_of([data for each in found if (data := self._computation(each)) is not None])

    def _computation(self, computed: Computation) -> Data | None:
        of = self._signatures.of
        try:
            reads = [number for read, answer in computed.reads for number in (self._node(read), of(answer))]
            found = computed.found
            lacks = isinstance(found, Walk) and found.lacks
            return [reads, of(found), computed.used, self._body(found), lacks]
        except NotKeptError:
            return None

    def _body(self, walk: Any) -> int:
        """Return the number of the part of a walk that no other walk reads; -1 for an attribute."""
        if not isinstance(walk, Walk):
            return -1
        obstacles = [
            [each.group.value, *_range_of(each.place), each.expression, each.reason, each.fact]
            for each in walk.obstacles.values()
        ]
        calls = [[self._names.number(each), sorted(lines)] for each, lines in walk.call_lines.items()]
        return self._bodies.setdefault(text_of([obstacles, calls, [*walk.assumed]]), len(self._bodies))


class KeptWalks:
    """The computations of an earlier proof of the project that an edit of files may have left as they were."""

    def __init__(self, data: bytes, modules: Sequence[Module]) -> None:
        """Read what was written; raise NotKeptError for damaged data, or where files are new or gone."""
        with reading():
            self._parts = SavedState(data, ()).parts
            files = json.loads(self._parts["files"])
            if [each[0] for each in files] != [module.path for module in modules]:
                raise NotKeptError("other files")
            self._digests = {path: digest for path, _, digest in files}
            outlines = json.loads(self._parts["outlines"])
            self.changed = set[str]()
            self.outlines: dict[str, Outline] = {}
            forms = json.loads(self._parts["forms"])
            self.forms: dict[str, Any] = {}
            for module, (path, digest, _), outline, form in zip(modules, files, outlines, forms, strict=True):
                if _digest(module.lines.text) == digest:
                    self.outlines[path] = Outline(*outline)
                    self.forms[path] = form
                else:
                    self.changed.add(path)
            if len(self.changed) > _MOST_CHANGED:
                raise NotKeptError("too much has changed")

    def take(self, definitions: Definitions, ran: Ran) -> None:
        """Find the definitions that the data is about; raise NotKeptError where an edit changed any, or an outline."""
        changed = [module for module in definitions.modules if module.path in self.changed]
        for module in changed:
            if definitions.outline(module).digest(module, ran) != self._digests[module.path]:
                raise NotKeptError("an edit of more than bodies")
        with reading():
            names = self._names = Names(definitions.modules)
            if _digest_of(names) != self._parts["definitions"]:
                raise NotKeptError("other definitions")
            self._add_lambdas(definitions)
            self._values = _KeptValues(names, self._parts)
            self._lines = [*_lines("signatures", self._parts)]
            self.signatures = Signatures(names, _lines("values", self._parts), self._lines)
            self._bodies = KeptLines("bodies", self._parts)
            self._computations = KeptLines("computations", self._parts)
            nodes = self._parts["nodes"].split("\n")
            self.nodes: list[Read] = [_read_of(json.loads(node), names) for node in nodes]
            self._numbers = {node: number for number, node in enumerate(self.nodes)}
            self._places = {
                names.functions[number]: line for number, line in json.loads(self._parts["lines"])
            }

    def _add_lambdas(self, definitions: Definitions) -> None:
        known = {each.key: each for each in definitions.scopes.all_lambdas()}
        by_key = {each.key: each for each in self._names.functions.values()}
        for key, of, parent in json.loads(self._parts["lambdas"]):
            found = known.get(key)
            if found is None:
                outer = self._names.modules[of].body if parent is None else self._names.functions[parent]
                definition, _, number = key.rpartition(":")
                found = definitions.scopes.numbered(by_key[definition], int(number), outer)
            self._names.add(found)

    def line(self, function: Function) -> int:
        """Return the first line of a function, without reading a file that is as it was."""
        if function.module.unread is None or function.module.path in self.changed:
            return line_of(function)
        found = self._places.get(function)
        return line_of(function) if found is None else found

    def computations(self, node: Node) -> list[KeptComputation]:
        """Return the kept computations of a node; none of a function in a file that differs."""
        if isinstance(node, Function) and node.module.path in self.changed:
            return []
        number = self._numbers.get(node)
        if number is None:
            return []
        with reading():
            return [KeptComputation(*each) for each in json.loads(self._computations[number])]

    def signature(self, answer: Any) -> int | None:
        """Return the number of an answer; None where it has no form as data."""
        try:
            return self.signatures.of(answer)
        except NotKeptError:
            return None

    def found(self, node: Node, kept: KeptComputation) -> Any:
        """Return the result of a kept computation."""
        if isinstance(node, Function):
            walk = KeptWalk(node, lambda walk, name: self._fill(walk, name, kept), lacks=kept.lacks)
            self.signatures.note(walk, kept.signature)
            return walk
        with reading():
            number = json.loads(self._lines[kept.signature])
            return None if number is None else self._values[number]

    def _fill(self, walk: Walk, name: str, kept: KeptComputation) -> None:
        with reading():
            if name in _OF_A_BODY:
                self._fill_body(walk, kept.body)
            else:
                self._fill_summary(walk, kept.signature)

    def _fill_summary(self, walk: Walk, signature: int) -> None:
        values = self._values
        returned, walk.swallows, bound, stored, filled, passed, walk.is_partial = json.loads(
            self._lines[signature]
        )
        walk.returned = values[returned]
        walk.bound = {name: values[value] for name, value in bound}
        walk.stored, walk.filled = (
            {name: [(values[base], values[value]) for base, value in stores] for name, stores in each}
            for each in (stored, filled)
        )
        walk.passed = {
            self._names.functions[function]: {
                (first, last): {name: values[value] for name, value in given} for first, last, given in calls
            }
            for function, calls in passed
        }

    def _fill_body(self, walk: Walk, number: int) -> None:
        obstacles, calls, assumed = json.loads(self._bodies[number])
        path, function = walk.function.module.path, walk.function.qualname
        walk.obstacles = {}
        for group, line, column, end_line, end_column, expression, reason, fact in obstacles:
            place = SourceRange(path, line, column, end_line, end_column)
            found = Obstacle(Group(group), place, function, expression, reason, fact)
            walk.obstacles[place, found.group] = found
        walk.call_lines = {self._names.functions[each]: {*lines} for each, lines in calls}
        walk.assumed = dict.fromkeys(assumed)


def take_walks(
    solver: Solved, data: Sequence[bytes | None], ran: Ran
) -> tuple[Definitions, list[KeptWalks | None]]:
    """Return the definitions of a project, and the walks of earlier proofs that still hold; None where none do."""
    found = [_begun(each, [*solver.context.modules]) for each in data]
    known = next((each for each in found if each is not None), None)
    definitions = Definitions(solver) if known is None else Definitions(solver, known.outlines, known.forms)
    return definitions, [
        each if each is not None and _holds(each, definitions, ran) else None for each in found
    ]


def _begun(data: bytes | None, modules: Sequence[Module]) -> KeptWalks | None:
    try:
        return None if data is None else KeptWalks(data, modules)
    except NotKeptError:
        return None


def _holds(kept: KeptWalks, definitions: Definitions, ran: Ran) -> bool:
    try:
        kept.take(definitions, ran)
    except NotKeptError:
        return False
    return True


def line_of(function: Function) -> int:
    """Return the first line of a function; 0 for the body of a module."""
    return getattr(function.node, "lineno", 0)


def _depth(function: Function) -> int:
    """Return the number of lambdas around a lambda."""
    return 0 if function.parent is None or not function.parent.is_lambda else 1 + _depth(function.parent)


def _data_of(read: Read, names: Names) -> Data:
    if isinstance(read, Question):
        return [read.sort.value, names.data(read.about), read.name]
    return names.data(read)


def _read_of(data: Data, names: Names) -> Read:
    sort = _SORTS.get(data[0])
    if sort is not None:
        return Question(sort, names.thing(data[1]), data[2])
    read: Read = names.thing(data)
    return read


def _range_of(place: SourceRange) -> tuple[int, int, int, int]:
    return place.line, place.column, place.end_line, place.end_column


def _lines(name: str, parts: Mapping[str, str]) -> Iterator[str]:
    present = {*parts}
    for number in count():
        if f"{name} {number}" not in present:
            return
        yield from parts[f"{name} {number}"].split("\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of(names: Names) -> str:
    """Return a digest of the definitions that have numbers."""
    numbered: list[Module | Function | Class] = [
        *names.modules.values(),
        *names.functions.values(),
        *names.classes.values(),
    ]
    return _digest(text_of([each.key for each in numbered]))
