"""Serialisation of a solver: cells, the states of functions, and the call graph, as lines of text."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.dataflow.cells import Cell, Knowledge, united
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.kept.lines import KeptLines, Part, in_parts
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
from syncscan.check.infer.source.index import LAMBDA, Function, Virtual
from syncscan.check.infer.source.indexer import parameters_of

_CALLED = {how.value: how for how in map(Called, range(4))}  # (to make one of its value takes long)


def names_of(solver: Solver) -> Names:
    """Return the numbers of the definitions in a solver's project."""
    lambdas = [each for each in solver.context.scopes.all_lambdas() if each in solver.states]
    return Names(solver.context.modules, lambdas)


def numbers_of(known: Knowledge) -> dict[Cell[Any], int]:
    """Return a number for each cell with contributions or readers."""
    cells = (cell for sort in known.cells() for cell in sort.values())
    return {
        cell: number
        for number, cell in enumerate(each for each in cells if each.contributions or each.readers)
    }


class KnowledgeWriter:
    """Serialise a solver; findings may be serialised with the same ``names`` and ``cells``."""

    def __init__(self, solver: Solver) -> None:
        if solver.defects:
            raise NotKeptError("what ended in an error")
        self._solver = solver
        self.names = names_of(solver)
        self._values = ValueWriter(self.names)
        self.cells = numbers_of(solver.known)

    def parts(self) -> Iterator[Part]:
        """Yield the serialised parts one by one, as they are large together."""
        solver, names = self._solver, self.names
        yield "lambdas", text_of([self._lambda(function) for function in names.functions[names.defined :]])
        yield "said", text_of(self._said())
        yield "asked", text_of([*self._asked()])
        yield "modules", "\n".join(text_of(written_module(each, names)) for each in names.modules)
        states = [solver.states[function] for function in names.functions]
        yield "places", text_of([[each.base, each.size] for each in states])
        yield from in_parts("states", map(self._state, states))
        yield "names", "\n".join(text_of([cell.sort, names.data(cell.key)]) for cell in self.cells)
        yield from in_parts("cells", map(self._cell, self.cells))
        yield from in_parts("values", self._values.lines)

    def _state(self, state: State) -> str:
        numbers = self._values
        cells = ([self.cells[cell] for cell in dict.fromkeys(each)] for each in (state.told, state.reads))
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
        definition = function.parent or function.module.body
        while definition.is_lambda:
            definition = definition.parent or definition.module.body
        return [
            self.names.number(definition),
            function.number,
            None if function.parent is None else self.names.number(function.parent),
            None if function.statement is None else Spot.of(function.statement).data(),
            parameters_data(function),
        ]

    def _asked(self) -> Iterator[Data]:
        for question, askers in self._solver.known.asked.items():
            yield [self.names.data(question), sorted(map(self.names.number, askers))]

    def _said(self) -> Data:
        known, number = self._solver.known, self.names.number
        return {
            "callees": [[number(f), self._callees(callees)] for f, callees in known.callees.items()],
            "elsewhere": [[number(f), [*map(number, called)]] for f, called in known.elsewhere.items()],
            "may block": sorted(map(number, known.may_block)),
            "rounds": [*self._solver.rounds.items()],
            "refreshed": [
                [name, is_so, sorted(map(number, asking))]
                for name, is_so, asking in self._solver.context.asked_of_mirrors()
            ],
            "own calls": [
                [number(f), sorted(f.calls_of_its_own)]
                for f in self.names.functions
                if f.calls_of_its_own is not None
            ],
        }


class KnowledgeReader:
    """Restore a solver without state from the serialised parts, for modules with the same definitions."""

    def __init__(self, solver: Solver, parts: Mapping[str, str]) -> None:
        """Restore the solver; raise NotKeptError for damaged data."""
        self._solver = solver
        self.names = Names(solver.context.modules)
        with reading():
            for data in json.loads(parts["lambdas"]):
                self.names.add(self._lambda(*data))
            self._values = ValueReader(self.names, parts)
            self._cell_names = parts["names"].split("\n")
            self._numbers = {name: number for number, name in enumerate(self._cell_names)}
            self._cells, self._states = KeptLines("cells", parts), KeptLines("states", parts)
            self._sorts = {cells.sort: cells for cells in solver.known.cells()}
            self._take_over(json.loads(parts["said"]), json.loads(parts["places"]))
            asked = json.loads(parts["asked"])
            solver.known.asked.update(
                (self.names.thing(question), {*self._functions(askers)}) for question, askers in asked
            )
        for cells in solver.known.cells():
            cells.recall = self._fill

    def cell(self, number: int) -> Cell[Any]:
        """Return the cell with a number."""
        sort, key = json.loads(self._cell_names[number])
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
        for number, (function, (base, size)) in enumerate(zip(functions, places, strict=True)):
            state = UnreadState(function, base, size, functools.partial(self._fill_state, number))
            state.callees, state.elsewhere = known.callees[function], known.elsewhere[function]
            states.append(state)
        for state in sorted(states, key=lambda each: each.base):
            self._solver.take(state)

    def _functions(self, numbers: Iterable[int]) -> list[Function]:
        return [self.names.functions[number] for number in numbers]

    def _callees(self, data: Data) -> dict[Function | Virtual, Called]:
        functions, thing = self.names.functions, self.names.thing
        callees = (functions[each] if isinstance(each, int) else thing(each) for each in data[::2])
        return {callee: _CALLED[how] for callee, how in zip(callees, data[1::2], strict=True)}

    def _fill(self, cell: Cell[Any]) -> None:
        """Restore the contributions and readers of a cell; one of a definition that did not exist stays empty."""
        try:
            number = self._numbers.get(text_of([cell.sort, self.names.data(cell.key)]))
        except NotKeptError:
            return
        if number is None:
            return
        fact = self._values.fact
        with reading():
            contributions, late, readers = json.loads(self._cells[number])
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
            values, told, reads = json.loads(self._states[number])
            state.values = [self._values[each] for each in values]
            state.told, state.reads = [*map(self.cell, told)], [*map(self.cell, reads)]
            assert len(values) == state.size
