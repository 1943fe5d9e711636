"""All that an inference knows, as lines of text: cells, evaluations, and what those said besides."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.kept.lines import KeptLines, Part, in_parts
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.check.infer.kept.sources import (
    UnreadFile,
    parameters,
    parameters_data,
    place_parameters,
    written_module,
)
from syncscan.check.infer.kept.unread import UnreadFunction
from syncscan.check.infer.kept.values import Reader, Spot, Trees, Writer
from syncscan.check.infer.known.cells import Cell, Event, Question
from syncscan.check.infer.known.recall import NotKeptError, reading
from syncscan.check.infer.known.trails import Evaluation, Trail
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.index import LAMBDA, Function, Virtual
from syncscan.check.infer.source.indexer import parameters_of

_CALLED = {how.value: how for how in map(Called, range(4))}  # (to make one of its value takes long)


def names_of(solver: Solver) -> Names:
    """The names of what a solver knows."""
    return Names(solver.context.modules, solver.context.scopes.all_lambdas())


class KnowledgeWriter:
    """Writes what a solver knows; what else is to be kept of it may be written with the same ``values``."""

    def __init__(self, solver: Solver) -> None:
        if solver.defects:
            raise NotKeptError("what ended in an error")
        self._solver = solver
        self.names = names_of(solver)
        self.values = Writer(self.names)

    def parts(self) -> Iterator[Part]:
        """All of it, one after the other, for together they are as large as what is known."""
        solver, names, values = self._solver, self.names, self.values
        for cells in solver.known.cells().values():
            for cell in cells.values():
                values.cell(cell)
        yield "lambdas", text_of([self._lambda(function) for function in names.functions[names.defined :]])
        yield "said", text_of(self._said())
        yield "asked", text_of([*self._asked()])
        yield "modules", "\n".join(text_of(written_module(each, names)) for each in names.modules)
        trails = (self._trail(solver.timeline.trails[function]) for function in names.functions)
        yield from in_parts("trails", trails)
        # (All cells have a number by now, so that none is added on the way.)
        yield from in_parts("cells", map(self._cell, values.cells))
        yield from tables_of(values)

    def _trail(self, trail: Trail) -> str:
        return text_of([self._evaluation(evaluation) for evaluation in trail])

    def _evaluation(self, evaluation: Evaluation) -> Data:
        number, cell = self.names.number, self.values.cell
        return [
            evaluation.turn,
            [*map(cell, evaluation.reads)],
            [*map(cell, evaluation.told)],
            self._callees(evaluation.callees),
            [*map(number, evaluation.elsewhere)],
            [*map(number, evaluation.lambdas)],
            evaluation.is_open,
            evaluation.may_block,
        ]

    def _callees(self, callees: Iterable[tuple[Function | Virtual, Called]]) -> Data:
        return [each for callee, how in callees for each in (self._callee(callee), how.value)]

    def _callee(self, callee: Function | Virtual) -> Data:
        return self.names.number(callee) if isinstance(callee, Function) else self.names.data(callee)

    def _cell(self, cell: Cell[Any]) -> str:
        number, fact = self.names.number, self.values.fact
        history = [
            [event.turn, number(event.writer), fact(event.fact), fact(event.value) if event.is_news else None]
            for event in cell.history
        ]
        return text_of([history, [*map(number, cell.readers)]])

    def _lambda(self, function: Function) -> Data:
        definition = function.parent or function.module.body
        while definition.is_lambda:
            definition = definition.parent or definition.module.body
        return [
            self.names.number(definition),
            function.order - definition.order,
            None if function.parent is None else self.names.number(function.parent),
            None if function.statement is None else Spot.of(function.statement).data(),
            parameters_data(function),
        ]

    def _asked(self) -> Iterator[Data]:
        for question, askers in self._solver.known.all_asked().items():
            yield [self.names.data(question), sorted(map(self.names.number, askers))]

    def _said(self) -> Data:
        known, number = self._solver.known, self.names.number
        return {
            "callees": [[number(f), self._callees(callees.items())] for f, callees in known.callees.items()],
            "elsewhere": [[number(f), [*map(number, called)]] for f, called in known.elsewhere.items()],
            "open": sorted(map(number, known.open)),
            "may block": sorted(map(number, known.may_block)),
            "meeters": [[number(f), [*map(number, by)]] for f, by in self._solver.timeline.meeters.items()],
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


def tables_of(values: Writer) -> Iterator[Part]:
    """What numbers of values, evidence and cells stand for."""
    yield "names", "\n".join(text_of([cell.sort, values.names.data(cell.key)]) for cell in values.cells)
    yield from in_parts("values", values.values)
    yield from in_parts("steps", values.steps)


def reader_of(solver: Solver, names: Names, trees: Trees, parts: Mapping[str, str]) -> Reader:
    """Reads what numbers stand for."""
    cells, lines = solver.known.cells(), parts["names"].split("\n")

    def cell(number: int) -> Cell[Any]:
        sort, key = json.loads(lines[number])
        return cells[sort][names.thing(key)]

    return Reader(names, trees, KeptLines("values", parts), KeptLines("steps", parts), cell)


class KnowledgeReader:
    """Lets a solver that knows nothing yet know what one knew, about modules that define the same."""

    def __init__(self, solver: Solver, trees: Trees, parts: Mapping[str, str]) -> None:
        """``trees`` are those of the files that are about to change; NotKeptError where that is not what was written."""
        self._solver = solver
        self.names = Names(solver.context.modules)
        with reading():
            for data in json.loads(parts["lambdas"]):
                self.names.add(self._lambda(*data))
            self.values = reader_of(solver, self.names, trees, parts)
            self._cell_of = self.values.cell
            self._numbers = {name: number for number, name in enumerate(parts["names"].split("\n"))}
            self._cells, self._trails = KeptLines("cells", parts), KeptLines("trails", parts)
            self._left = {*self.names.functions}  # whose trails have not been read
            self._take_over(json.loads(parts["said"]))
        for cells in solver.known.cells().values():
            cells.recall = self._fill
        solver.timeline.trails.recall = self._trail
        solver.known.recall_asked = lambda: self._asked(parts["asked"])
        solver.context.assume = True  # as at the end of a run

    def _lambda(self, of: int, number: int, around: int | None, statement: Data, given: Data) -> Function:
        definition = self.names.functions[of]
        parent = None if around is None else self.names.functions[around]
        module = definition.module
        qualname = LAMBDA if parent is None else f"{parent.qualname}.{LAMBDA}"
        made: Function = UnreadFunction(LAMBDA, qualname, module, None, None, parent)  # type: ignore[arg-type]  # its node is found when it is asked for
        del made.node, made.statement
        made.take(parameters(given))
        made.key, made.order = f"{definition.key}:{number}", definition.order + number
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

    def _take_over(self, said: Data) -> None:
        known, timeline, functions = self._solver.known, self._solver.timeline, self.names.functions
        known.callees.update((functions[f], self._callees(callees)) for f, callees in said["callees"])
        known.elsewhere.update(
            (functions[f], dict.fromkeys(self._functions(of))) for f, of in said["elsewhere"]
        )
        known.open.update(self._functions(said["open"]))
        known.may_block.update(self._functions(said["may block"]))
        timeline.meeters.update(
            (functions[f], dict.fromkeys(self._functions(by))) for f, by in said["meeters"]
        )
        for name, is_so, asking in said["refreshed"]:
            self._solver.context.answer_of_mirrors(name, is_so, self._functions(asking))
        for f, calls in said["own calls"]:
            functions[f].calls_of_its_own = frozenset(calls)

    def _functions(self, numbers: Iterable[int]) -> list[Function]:
        return [self.names.functions[number] for number in numbers]

    def _callees(self, data: Data) -> dict[Function | Virtual, Called]:
        functions, thing = self.names.functions, self.names.thing
        callees = (functions[each] if isinstance(each, int) else thing(each) for each in data[::2])
        return {callee: _CALLED[how] for callee, how in zip(callees, data[1::2], strict=True)}

    def _asked(self, part: str) -> Iterator[tuple[Question, list[Function]]]:
        with reading():
            for question, askers in json.loads(part):
                yield self.names.thing(question), self._functions(askers)

    def _fill(self, cell: Cell[Any]) -> None:
        """Fill a cell as it was; one of something that was not there was empty."""
        try:
            number = self._numbers.get(text_of([cell.sort, self.names.data(cell.key)]))
        except NotKeptError:
            number = None
        if number is None:
            cell.fill([], [])
            return
        with reading():
            history, readers = json.loads(self._cells[number])
            events: list[Event] = []
            value = cell.nothing
            for turn, writer, fact, news in history:
                value = value if news is None else self.values.fact(news)
                told = self.values.fact(fact)
                events.append(Event(turn, self.names.functions[writer], told, value, news is not None))
            cell.fill(events, [*self._functions(readers)])

    def _trail(self, function: Function) -> Trail:
        if function not in self._left:  # it was not there
            return []
        self._left.remove(function)
        with reading():
            return [self._evaluation(*data) for data in json.loads(self._trails[self.names.number(function)])]

    def _evaluation(
        self,
        turn: int,
        reads: list[int],
        told: list[int],
        callees: Data,
        elsewhere: list[int],
        lambdas: list[int],
        is_open: bool,
        may_block: bool,
    ) -> Evaluation:
        cell = self._cell_of
        return Evaluation(
            turn,
            tuple([cell(each) for each in reads]),
            tuple([cell(each) for each in told]),
            tuple(self._callees(callees).items()),
            tuple(self._functions(elsewhere)),
            tuple(self._functions(lambdas)),
            is_open,
            may_block,
            None,
        )
