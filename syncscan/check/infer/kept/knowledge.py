"""Serialisation of a solver: cells, the states of functions, and the call graph, as lines of text."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.dataflow.cells import Cell, Knowledge, Question, united
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.kept.lines import KeptLines, NamedLines, Part, Parts
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.check.infer.kept.reading import NotKeptError, reading
from syncscan.check.infer.kept.sources import (
    UnreadFile,
    parameters,
    parameters_data,
    place_parameters,
    written_module,
)
from syncscan.check.infer.kept.spots import Spot
from syncscan.check.infer.kept.unread import UnreadFunction, UnreadState
from syncscan.check.infer.kept.values import ValueReader, ValueWriter
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.index import LAMBDA, Function, Module, Virtual
from syncscan.check.infer.source.indexer import parameters_of

_ABOUT_A_FILE = '["t","'  # the beginning of questions about what is imported from a name
_EMPTY_CELL = "[[],[],[]]"  # without contributions and readers
_CALLED = {how.value: how for how in map(Called, range(8))}  # (to make one of its value takes long)


def names_of(solver: Solver, before: Names | None = None) -> Names:
    """Return the numbers of the definitions in a solver's project; those that had one ``before`` keep it."""
    lambdas = [each for each in solver.context.scopes.all_lambdas() if each in solver.states]
    return Names(solver.context.modules, lambdas, before)


def numbers_of(known: Knowledge) -> dict[Cell[Any], int]:
    """Return a number for each cell with contributions or readers."""
    cells = (cell for sort in known.cells() for cell in sort.values())
    return {
        cell: number
        for number, cell in enumerate(each for each in cells if each.contributions or each.readers)
    }


class KeptKnowledge:
    """The knowledge that an earlier run wrote: the numbers of definitions, and lines for all that has a number."""

    def __init__(self, names: Names, parts: Parts) -> None:
        self.names = names
        self.lambdas: dict[Function, Data] = {}
        self.values = ValueReader(names, parts)
        self.modules, self.states = KeptLines("modules", parts), KeptLines("states", parts)
        self.cells, self.asked = NamedLines("cells", parts), NamedLines("asked", parts)
        self.unread: set[State] = set()  # the states whose values have not been restored


NOTHING = KeptKnowledge(Names(), Parts({}))


class KnowledgeWriter:
    """Serialise a solver; findings may be serialised with the same ``names`` and ``cells``.

    If the solver was restored from ``kept``, the lines that have not been read are copied unchanged.
    """

    def __init__(self, solver: Solver, kept: KeptKnowledge) -> None:
        if solver.defects:
            raise NotKeptError("what ended in an error")
        self._solver = solver
        self._kept = kept
        self.names = names_of(solver, kept.names)
        self._values = ValueWriter(self.names, kept.values)
        self._cell_numbers = {**kept.cells.numbers}
        self.cells = dict(self._numbered())

    def _numbered(self) -> Iterator[tuple[Cell[Any], int]]:
        """Yield the cells of existing definitions with their numbers."""
        numbers, names = self._cell_numbers, self.names
        for sort in self._solver.known.cells():
            for cell in sort.values():
                try:
                    name = text_of([cell.sort, names.data(cell.key)])
                except NotKeptError:
                    continue
                if cell.contributions or cell.readers:
                    yield cell, numbers.setdefault(name, len(numbers))
                elif name in numbers:
                    yield cell, numbers[name]

    def _of_parameters_gone(self) -> Iterator[int]:
        """Yield the numbers of the cells of deleted parameters: another parameter may later have the same name."""
        numbers = self._cell_numbers
        for number, name in self._kept.names.parameters() - self.names.parameters():
            keys = (text_of([sort.sort, ["p", number, name]]) for sort in self._solver.known.cells())
            yield from (numbers[key] for key in keys if key in numbers)

    def parts(self) -> Iterator[Part]:
        """Yield the serialised parts one by one, as they are large together."""
        solver, names, kept = self._solver, self.names, self._kept
        yield "ends", text_of(names.ends)
        yield "lambdas", text_of([self._lambda(each) for each in names.functions.values() if each.is_lambda])
        yield "said", text_of(self._said())
        yield from self._asked()
        yield from kept.modules.revised(map(self._module, names.modules.in_order()))
        states = [None if each is None else solver.states[each] for each in names.functions.in_order()]
        yield "places", text_of([None if each is None else [each.base, each.size] for each in states])
        yield from kept.states.revised(map(self._state, states))
        cells = {number: cell for cell, number in self.cells.items()}
        lines = dict.fromkeys(self._of_parameters_gone(), _EMPTY_CELL)
        yield from kept.cells.revised(
            self._cell_numbers,
            lambda number: self._cell(cells[number]) if number in cells else lines.get(number),
        )
        yield from kept.values.lines.revised(self._values.lines)

    def _module(self, module: Module | None) -> str | None:
        """Return the line of a module; None if its file has not been parsed, since the kept line is then valid."""
        if module is None or module.unread is not None:
            return None
        return text_of(written_module(module, self.names))

    def _state(self, state: State | None) -> str | None:
        if state is None or state in self._kept.unread:
            return None
        numbers = self._values
        cells = (
            [self.cells[cell] for cell in dict.fromkeys(each) if cell in self.cells]
            for each in (state.told, state.reads)
        )
        return text_of([[numbers[value] for value in state.values], *cells])

    def _cell(self, cell: Cell[Any]) -> str:
        fact = self._values.fact
        contributions = [each for writer, told in cell.contributions.items() for each in (writer, fact(told))]
        late = [
            [writer, [[turn, fact(told)] for turn, told in changes]]
            for writer, changes in (cell.late or {}).items()
        ]
        return text_of([contributions, late, sorted(cell.readers)])

    def _callees(self, callees: Mapping[Function | Virtual, Called]) -> Data:
        return [each for callee, how in callees.items() for each in (self._callee(callee), how.value)]

    def _callee(self, callee: Function | Virtual) -> Data:
        return self.names.number(callee) if isinstance(callee, Function) else self.names.data(callee)

    def _lambda(self, function: Function) -> Data:
        if isinstance(function, UnreadFunction):
            return self._kept.lambdas[function]
        definition = function.parent or function.module.body
        while definition.is_lambda:
            definition = definition.parent or definition.module.body
        return [
            self.names.number(function),
            self.names.number(definition),
            function.number,
            None if function.parent is None else self.names.number(function.parent),
            None if function.statement is None else Spot.of(function.statement).data(),
            parameters_data(function),
        ]

    def _asked(self) -> Iterator[Part]:
        numbers, lines = {**self._kept.asked.numbers}, {}
        for question, askers in self._solver.known.asked.items():
            with suppress(NotKeptError):  # of a definition that is gone
                number = numbers.setdefault(text_of(self.names.data(question)), len(numbers))
                lines[number] = text_of(self.names.numbers(askers))
        yield from self._kept.asked.revised(numbers, lines.get)

    def _said(self) -> Data:
        known, number = self._solver.known, self.names.number
        return {
            "callees": [[number(f), self._callees(callees)] for f, callees in known.callees.items()],
            "elsewhere": [[number(f), [*map(number, called)]] for f, called in known.elsewhere.items()],
            "may block": self.names.numbers(known.may_block),
            "rounds": [*self._solver.rounds.items()],
            "refreshed": [
                [name, is_so, self.names.numbers(asking)]
                for name, is_so, asking in self._solver.context.asked_of_mirrors()
            ],
            "own calls": [
                [number(f), sorted(f.calls_of_its_own)]
                for f in self.names.functions.values()
                if f.calls_of_its_own is not None
            ],
        }


class KnowledgeReader:
    """Restore a solver without state from the serialised parts, for modules with definitions that have their numbers."""

    def __init__(self, solver: Solver, parts: Parts, names: Names) -> None:
        """Restore the solver; raise NotKeptError for damaged data."""
        self._solver = solver
        self.names = names
        with reading():
            self.kept = KeptKnowledge(names, parts)
            for data in json.loads(parts["lambdas"]):
                function = self._lambda(*data[1:])
                names.add(function, data[0])
                self.kept.lambdas[function] = data
            self._sorts = {cells.sort: cells for cells in solver.known.cells()}
            self._take_over(json.loads(parts["said"]), json.loads(parts["places"]))
            for name in self.kept.asked.names:
                if name.startswith(_ABOUT_A_FILE):
                    solver.known.asked[self.names.thing(json.loads(name))] = self._askers(name)
        for cells in solver.known.cells():
            cells.recall = self._fill
        solver.known.asked.recall = self._recall_askers

    def cell(self, number: int) -> Cell[Any]:
        """Return the cell with a number."""
        sort, key = json.loads(self.kept.cells.names[number])
        cell: Cell[Any] = self._sorts[sort][self.names.thing(key)]
        return cell

    def _lambda(self, of: int, number: int, around: int | None, statement: Data, given: Data) -> Function:
        definition = self.names.functions[of]
        parent = None if around is None else self.names.functions[around]
        module = definition.module
        qualname = LAMBDA if parent is None else f"{parent.qualname}.{LAMBDA}"
        made: Function = UnreadFunction(LAMBDA, qualname, module, None, None, parent)  # type: ignore[arg-type]  # its node is found when it is asked for
        del made.node, made.statement
        made.take(parameters(given))
        made.key, made.number = f"{definition.key}:{number}", number
        scopes = self._solver.context.scopes

        def place() -> None:
            scopes.place(made, definition)
            assert isinstance(made.node, ast.Lambda)
            place_parameters(made.parameters, [*parameters_of(made.node.args)])
            made.statement = None if statement is None else Spot(*statement).statement_in(definition.node)
            made.__class__ = Function

        if isinstance(module.unread, UnreadFile):
            scopes.placeless[made] = None
            module.unread.then.append(place)
        else:
            place()
        return made

    def _take_over(self, said: Data, places: Data) -> None:
        known, functions = self._solver.known, self.names.functions
        known.callees.update((functions[f], self._callees(callees)) for f, callees in said["callees"])
        known.elsewhere.update(
            (functions[f], dict.fromkeys(self._functions(of))) for f, of in said["elsewhere"]
        )
        known.may_block.update(self._functions(said["may block"]))
        self._solver.rounds.update(said["rounds"])
        for name, is_so, asking in said["refreshed"]:
            self._solver.context.answer_of_mirrors(name, is_so, self._functions(asking))
        for f, calls in said["own calls"]:
            functions[f].calls_of_its_own = frozenset(calls)
        states = []
        for number, place in enumerate(places):
            if place is None:
                continue
            function, (base, size) = functions[number], place
            state = UnreadState(function, base, size, functools.partial(self._fill_state, number))
            state.callees, state.elsewhere = known.callees[function], known.elsewhere[function]
            states.append(state)
            self.kept.unread.add(state)
        for state in sorted(
            states, key=lambda each: (each.base, each.size)
        ):  # an empty state has the base of the next one
            self._solver.take(state)

    def _functions(self, numbers: Iterable[int]) -> list[Function]:
        return [self.names.functions[number] for number in numbers]

    def _callees(self, data: Data) -> dict[Function | Virtual, Called]:
        functions, thing = self.names.functions, self.names.thing
        callees = (functions[each] if isinstance(each, int) else thing(each) for each in data[::2])
        return {callee: _CALLED[how] for callee, how in zip(callees, data[1::2], strict=True)}

    def _askers(self, name: str) -> set[Function]:
        functions = self.names.functions
        with reading():
            numbers = json.loads(self.kept.asked.find(name) or "[]")
            return {functions[number] for number in numbers if number in functions}

    def _recall_askers(self, question: Question) -> set[Function]:
        """Return the functions that asked a question; empty for a definition that is new since the kept run."""
        try:
            name = text_of(self.names.data(question))
        except NotKeptError:
            return set()
        return self._askers(name)

    def _fill(self, cell: Cell[Any]) -> None:
        """Restore the contributions and readers of a cell; one of a definition that did not exist stays empty."""
        try:
            line = self.kept.cells.find(text_of([cell.sort, self.names.data(cell.key)]))
        except NotKeptError:
            return
        if line is None:
            return
        fact = self.kept.values.fact
        with reading():
            contributions, late, readers = json.loads(line)
            if contributions:
                cell.contributions = dict(
                    zip(contributions[::2], map(fact, contributions[1::2]), strict=True)
                )
            if late:
                cell.late = {
                    writer: [(turn, fact(told)) for turn, told in changes] for writer, changes in late
                }
            for told in cell.contributions.values():
                cell.value = united(cell.value, told)
            for reader in readers:
                cell.read_by(reader)

    def _fill_state(self, number: int, state: State, name: str) -> None:
        """Restore the attribute ``name`` of a function's state."""
        if name in {"ir", "uses"}:
            state.ir = self._solver.lowered(state.function)
            if len(state.ir) != state.size:
                raise NotKeptError("not what was written")
            state.uses = state.ir.uses()
            return
        with reading():
            values, told, reads = json.loads(self.kept.states[number])
            state.values = [self.kept.values[each] for each in values]
            state.told, state.reads = [*map(self.cell, told)], [*map(self.cell, reads)]
            self.kept.unread.discard(state)
            assert len(values) == state.size
