"""Values and their evidence as data: each is written once, one a line, and named by its number."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.kept.lines import KeptLines
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.check.infer.known.cells import Cell
from syncscan.check.infer.known.recall import NotKeptError
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import decorators_of, walk
from syncscan.check.infer.values.basic import EMPTY
from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.steps import Placed, Step
from syncscan.model import UNKNOWN, Confidence, Device, Evidence, Kind, Value

_KINDS, _DEVICES = [*Kind], [*Device]
_NUMBER_OF = {each: number for each in (_KINDS, _DEVICES) for number, each in enumerate(each)}
_ONE_OBJECT = (UNKNOWN, EMPTY)  # that evaluators know by identity
_STEPS: tuple[type[Evidence], ...] = (Evidence, Step, Placed)


class Spot(NamedTuple):
    """Where a node stands that is not at hand: all that is asked of one at which evidence stands."""

    sort: str
    lineno: int
    col_offset: int = 0
    end_lineno: int = 0
    end_col_offset: int = 0

    @classmethod
    def of(cls, node: ast.AST | Spot) -> Spot:
        """Where a node stands; that of a module, which has no place, on the first line."""
        if isinstance(node, cls):
            return node
        if isinstance(node, (ast.expr, ast.stmt)):
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            return cls(type(node).__name__, *place)
        return cls(type(node).__name__, getattr(node, "lineno", 1))

    def data(self) -> Data:
        """Itself as data."""
        return [self.sort, self.lineno, self.col_offset, self.end_lineno, self.end_col_offset]

    def statement_in(self, tree: ast.AST) -> Any:
        """The statement that stands there in a definition; NotKeptError where there are several, or none."""
        return _only(self, [node for node in _statements(tree) if Spot.of(node) == self])


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """A statement and all in it."""
    queue: list[Any] = [tree]
    while queue:
        node = queue.pop()
        yield node
        yield from decorators_of(node)
        for block in blocks_of(node):
            queue += block


class Trees:
    """The nodes of files at hand, by where they stand now; of others the spots."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        """``trees`` has those of the files at hand, by their paths."""
        self._nodes: dict[str, dict[Spot, list[ast.AST]]] = {}
        for path, tree in trees.items():
            nodes = self._nodes[path] = {}
            for node in walk(tree):
                nodes.setdefault(Spot.of(node), []).append(node)

    def node(self, path: str, data: Data) -> Any:
        """The node at a spot; NotKeptError where there are several, or none."""
        spot = Spot(*data)
        return _only(spot, self._nodes[path].get(spot, [])) if path in self._nodes else spot


def _only(spot: Spot, nodes: Sequence[ast.AST]) -> ast.AST:
    if len(nodes) != 1:
        raise NotKeptError(f"line {spot.lineno}: no node, or several")
    return nodes[0]


class Writer:
    """Numbers values, evidence and cells as they are met; ``values`` and ``steps`` have a line for each."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.values: dict[str, int] = {}
        self.steps: dict[str, int] = {}
        self.cells: dict[Cell[Any], int] = {}
        self._known: dict[int, tuple[object, int]] = {}  # by identity, and kept so that it stays one
        for value in _ONE_OBJECT:
            self._note(value, self.values, ["="])

    def cell(self, cell: Cell[Any]) -> int:
        """The number of a cell."""
        return self.cells.setdefault(cell, len(self.cells))

    def fact(self, fact: object) -> Data:
        """What was told to a cell: the number of a value, or else a list."""
        return self.value(fact) if isinstance(fact, Value) else self.names.data(fact)

    def value(self, value: Value) -> int:
        """The number of a value."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        items = None if value.items is None else [self.value(item) for item in value.items]
        element = None if value.element is None else self.value(value.element)
        data = [
            _NUMBER_OF[value.kind], _NUMBER_OF[value.device], int(value.confidence), value.pinned, value.dtype,
            value.ndim, self._payload(value.payload), items, element, self.step(value.evidence), value.count,
        ]  # fmt: skip
        return self._note(value, self.values, data)

    def step(self, step: Evidence | None) -> int | None:
        """The number of a step of evidence, and of those behind it."""
        if step is None:
            return None
        known = self._known.get(id(step))
        if known is not None:
            return known[1]
        if isinstance(step, Step):
            if step.told is not None and not isinstance(step.told, Cell):
                raise NotKeptError("evidence that was told to no cell")
            place = Spot.of(step.node).data()
            told = None if step.told is None else self.cell(step.told)
        else:
            place, told = step.line, None
        data = [
            _STEPS.index(type(step)),
            step.path,
            place,
            step.text,
            self.step(step.parent),
            told,
            step.cell,
        ]
        return self._note(step, self.steps, data)

    def _note(self, thing: object, lines: dict[str, int], data: Data) -> int:
        line = text_of(data) if data != ["="] else f'["=",{len(lines)}]'
        number = lines.setdefault(line, len(lines))
        self._known[id(thing)] = thing, number
        return number

    def _payload(self, payload: object) -> Data:
        if isinstance(payload, BoundMethod):
            return ["b", self.names.data(payload.function), self.value(payload.receiver)]
        if isinstance(payload, Partial):
            kwargs = [[name, self.value(value)] for name, value in payload.kwargs]
            return ["P", self.value(payload.callee), [*map(self.value, payload.args)], kwargs]
        return self.names.data(payload)


class Reader:
    """Makes values and evidence of their lines, each when it is first asked for."""

    def __init__(
        self,
        names: Names,
        trees: Trees,
        values: KeptLines,
        steps: KeptLines,
        cell: Callable[[int], Cell[Any]],
    ) -> None:
        self._names = names
        self._trees = trees
        self._values = values
        self._steps = steps
        self.cell = cell
        self._known_values: dict[int, Value] = dict(enumerate(_ONE_OBJECT))
        self._known_steps: dict[int, Evidence] = {}

    def node(self, path: str, data: Data) -> Any:
        """The node, or the spot, at which something stands."""
        return self._trees.node(path, data)

    def fact(self, data: Data) -> Any:
        """What was told to a cell."""
        return self._names.thing(data) if isinstance(data, list) else self.value(data)

    def value(self, number: int) -> Value:
        """The value of a number."""
        known = self._known_values.get(number)
        if known is not None:
            return known
        kind, device, confidence, pinned, dtype, ndim, payload, items, element, step, count = json.loads(
            self._values[number]
        )
        value = self._known_values[number] = Value(
            _KINDS[kind],
            _DEVICES[device],
            Confidence(confidence),
            pinned,
            dtype,
            ndim,
            self._payload(payload),
            None if items is None else tuple([self.value(item) for item in items]),
            None if element is None else self.value(element),
            self.step(step),
            count,
        )
        return value

    def step(self, number: int | None) -> Evidence | None:
        """The step of evidence of a number."""
        if number is None:
            return None
        known = self._known_steps.get(number)
        if known is not None:
            return known
        sort, path, place, text, parent, told, cell = json.loads(self._steps[number])
        behind = self.step(parent)
        if sort == 0:
            step = Evidence(path, place, text, behind, cell)
        else:
            made = Placed if sort == _STEPS.index(Placed) else Step
            step = made(
                path, self._trees.node(path, place), text, behind, None if told is None else self.cell(told)
            )
        self._known_steps[number] = step
        return step

    def _payload(self, data: Data) -> object:
        if isinstance(data, list) and data[0] == "b":
            return BoundMethod(self._names.thing(data[1]), self.value(data[2]))
        if isinstance(data, list) and data[0] == "P":
            kwargs = tuple((name, self.value(value)) for name, value in data[3])
            return Partial(self.value(data[1]), tuple(map(self.value, data[2])), kwargs)
        return self._names.thing(data)
