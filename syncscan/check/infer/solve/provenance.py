"""Provenance, computed for findings only: the shortest chain from an expression to the origin of its device.

A chain leads from an instruction to its deciding operand, or to a cell that the instruction reads. From a
cell, the chain leads to an instruction that contributes to the cell, which adds a link. Among several
contributions, those nearest to the code at hand come first, then those of the first path and line. A chain
therefore depends on the source alone.

An answer of an earlier round may be lost at the fixed point: a cell that the answer reached answers in its place,
or another device has joined. If no chain of final values has an origin, the chain follows the first values
on the device (`solve.history`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any, NamedTuple

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.solve.deciding import (
    Places,
    device_operand,
    is_in,
    item,
    onward,
    passed,
)
from syncscan.check.infer.solve.history import History, Moment
from syncscan.check.infer.solve.shown import line_of, line_of_use, text_of, text_of_contribution
from syncscan.check.infer.solve.steps import MOST_STEPS, Step, merged
from syncscan.check.infer.solve.ways import (
    ANYWHERE,
    Asked,
    Caller,
    Calls,
    Crossing,
    Node,
    Part,
    Visit,
    Way,
    Ways,
    Writer,
    visit_by,
)
from syncscan.check.infer.source.hardware import runs_on_other_hardware
from syncscan.check.infer.transfer.point import Origin, Point, Sighting, Solving, Trace
from syncscan.check.infer.transfer.registry import INSTRUCTIONS
from syncscan.check.infer.transfer.storing import ANY_NAME
from syncscan.model import ON_GPU, Confidence, Evidence, Kind

_LONGEST = 16  # steps that are looked for


class _Writers(NamedTuple):
    """The instructions that contribute to a cell, by file, and the functions that contain them."""

    found: list[tuple[str, list[Node]]]
    rests_on: frozenset[object]
    by_line: dict[str, list[tuple[int, Node]]]  # of the files to which somebody came

    def in_file(self, path: str, nodes: Sequence[Node]) -> list[tuple[int, Node]]:
        """Return the writers in a file by line; files are read only when visited."""
        known = self.by_line.get(path)
        if known is None:
            lines = [
                (runs_on_other_hardware(node.state.function), line_of(*node), _place_of(node), node)
                for node in nodes
            ]
            known = self.by_line[path] = [
                (line, node) for _, line, _, node in sorted(lines, key=itemgetter(0, 1, 2))
            ]
        return known


def _place_of(node: Node) -> tuple[int, int, int]:
    """Return where an instruction stands in its file, for those that have no line."""
    there = node.state.function.node
    return getattr(there, "lineno", 0), getattr(there, "col_offset", 0), node.slot


# A cell, the places and the item that are asked for, and the files nearest to which its contributions are to be
_Asked = tuple[Cell[Any], Places, "int | None", str, str]


class _End(NamedTuple):
    """The end of a chain within a function: an origin, or an instruction that reads cells, and the item asked of their values.

    ``observed`` has the steps from runtime facts on the way.
    """

    root: list[Step] | None
    cells: list[Cell[Any]]
    observed: list[Step]
    node: Node
    item: int | None


_Place = tuple[Node, Visit, "int | None"]  # where a chain has been
_RETURNS = frozenset({"returns", "virtual returns"})
_ARGUMENTS = frozenset({"parameters", "virtual arguments"})


class Provenance:
    """The provenance of values of one project, with caches for one revision."""

    def __init__(self, solver: Solving) -> None:
        self._solver = solver
        self._asked: set[Node] = set()  # devices whose chains are looked for, one behind the other
        self._moments: dict[tuple[Node, Places], Moment] = {}
        self._ends: dict[
            tuple[Node, Places], Slot
        ] = {}  # where following the operands of an instruction leads
        self._writers: dict[_Asked, _Writers] = {}
        self._others: dict[_Asked, dict[tuple[str, int], Evidence]] = {}
        self._rests_on: set[object] = set()
        self._past: _Past | None = None

    def reasons(
        self, state: State, slot: Slot, places: Places
    ) -> tuple[list[Step], tuple[Evidence, ...], frozenset[object]]:
        """Return the chain of a value, the other call sites that pass it, and everything that the chain depends on."""
        self._rests_on = set()
        steps = self.chain(state, slot, places)
        others = self.others(state, steps, places)
        return steps, others, frozenset(self._rests_on)

    def chain(self, state: State, slot: Slot, places: Places, calls: Calls = ()) -> list[Step]:
        """Return the steps from an expression to the origin of its device, if in ``places``; empty where unknown.

        A value that a call returns depends on the arguments of this call. Only where no such chain has an origin, a chain
        may enter a function by one call and leave it by another.
        """
        steps = self._search(state, slot, places, calls) or self._search(state, slot, places, matches=False)
        if steps or not is_in(state.values[slot], places):
            return steps
        self._past = self._past or _Past(self._solver)
        steps = self._past.chain_then(state, slot, places, self._rests_on)
        # Of two operands on the device, the deciding one may only lead back: `self.bound *= factor`.
        return steps or self._search(state, slot, places, matches=False, by_all=True)

    def _search(
        self,
        state: State,
        slot: Slot,
        places: Places,
        calls: Calls = (),
        *,
        matches: bool = True,
        by_all: bool = False,
    ) -> list[Step]:
        """Return the shortest chain; without ``matches`` it may leave a function by other calls than it entered through.

        With ``by_all``, the chain may also lead through operands that do not decide, where those that decide have no origin.
        """
        path = state.function.module.path
        ways = Ways()
        ways.add(Way(Part((), 0), visit_by(calls), None, iter([(Node(state, slot), None)])))
        observed: tuple[Step, ...] = ()  # where nothing but a run says why
        seen: set[_Place] = set()
        for before, inside, index, node in ways.in_turn():
            if (node, inside, index) in seen:
                continue
            seen.add((node, inside, index))
            self._rests_on.add(node.state.function)
            end = self._within(node, places, seen, inside, index)
            steps = (*before.steps, *end.observed)
            observed = observed or (steps if end.observed else ())
            if end.root is not None:
                whole = merged([*steps, *end.root])
                return whole if not observed or len(whole) <= MOST_STEPS else merged(observed)
            if len(steps) >= _LONGEST:
                continue
            here = steps[-1].path if steps else path
            there = Part(steps, before.cells + 1)
            if by_all:
                operands = self._operands_behind(node, places)
                ways.add(Way(Part(steps, before.cells), inside, None, operands), is_last=True)
            for cell in end.cells:
                visit, crossings = (
                    _followed(ways, (cell, end.item), end.node, inside, there) if matches else (ANYWHERE, ())
                )
                if visit is not None:
                    by = self._contributions((cell, places, end.item, here, path))
                    ways.add(Way(there, visit, end.item, by), is_last=_has_any_name(cell))
                for (parameter, part), (call, outside, _), way in crossings:
                    ways.add(Way(way, outside, part, self._argument(parameter, places, part, call)))
        return merged(observed)

    def _within(
        self, node: Node, places: Places, seen: set[_Place], inside: Visit, index: int | None
    ) -> _End:
        """Follow the deciding operands within a function, to an origin or to the cells that are read."""
        observed: list[Step] = []
        is_whole = index is None
        state = node.state
        slot: Slot | None = node.slot
        visited: set[Slot] = set()
        is_straight = True  # whoever comes by later is led to where this ends, if no operand was passed over
        while slot is not None and slot not in visited:
            visited.add(slot)
            slot = self._ends.get((Node(state, slot), places), slot) if index is None else slot
            operands, read, trace = self._moment(Node(state, slot), places)
            if trace.sighting is not None:
                observed.append(
                    Step(trace.sighting.origin.path, trace.sighting.origin.line, trace.sighting.origin.text)
                )
                if not _agrees(trace.sighting, index):
                    return _End([], [], observed, node, index)
            cells = [cell for cell, value in read if is_in(value, places, index)]
            if cells or trace.origins:
                if is_straight and is_whole and not observed:
                    self._ends.update([((Node(state, each), places), slot) for each in visited])
                root = None if cells else self._root(state, slot, trace.origins, seen, inside)
                return _End(root, [*dict.fromkeys(cells)], observed, Node(state, slot), index)
            is_straight &= visited.isdisjoint(state.ir.operands[slot])
            slot, index = onward(state, slot, index, operands, places, visited)
            is_whole &= index is None
        return _End(None, [], observed, node, index)

    def _operands_behind(self, node: Node, places: Places) -> Iterator[Writer]:
        """Yield all operands on some devices that lead to a value within its function, the nearest first."""
        state, found = node.state, [node.slot]
        for slot in found:  # which grows meanwhile
            for each in state.ir.operands[slot]:
                if each >= 0 and each not in found and is_in(state.values[each], places):
                    found.append(each)
                    yield Node(state, each), None

    def _root(
        self,
        state: State,
        slot: Slot,
        origins: Sequence[Origin],
        seen: set[_Place],
        inside: Visit,
    ) -> list[Step]:
        """Return the step of an origin, followed by the chain of its device argument."""
        origin = origins[0]
        line = origin.line or line_of(state, slot) or line_of_use(state, slot)
        shown = text_of(state, slot)
        text = origin.text.replace("{}", f"`{shown}`" if shown else "the value")
        step = Step(origin.path, line, text, is_placing=origin.is_placing, is_origin=True)
        device = device_operand(state, slot) if step.is_placing else None
        if device is None:
            return [step]
        node = Node(state, device)
        if (node, inside, None) in seen or node in self._asked:
            return [step]
        self._asked.add(node)
        behind = self.chain(state, device, ON_GPU, inside.calls())
        self._asked.discard(node)
        return [step, *behind]

    def _moment(self, node: Node, places: Places) -> Moment:
        moment = self._moments.get((node, places))
        if moment is None:
            moment = self._moments[node, places] = self._run(node, places)
        return moment

    def _run(self, node: Node, places: Places) -> Moment:
        """Run an instruction with the final values."""
        state, slot = node
        point = Point(self._solver)
        point.stand_in(state)
        point.number, point.trace = slot, Trace()
        operands = [state.values[each] for each in state.ir.operands[slot]]
        INSTRUCTIONS[Op(state.ir.ops[slot])](point, operands, state.ir.data[slot])
        return Moment(operands, [(cell, cell.value) for cell in point.trace.cells], point.trace)

    def _contributions(self, asked: _Asked) -> Iterator[Writer]:
        """Yield the instructions that contribute a value on these devices to a cell, the nearest files first."""
        cell, places, *_ = asked
        writers = self._writers.get(asked)
        if writers is None:
            writers = self._writers[asked] = self._writers_of(*asked)
        self._rests_on |= writers.rests_on
        for there, nodes in writers.found:
            for line, node in writers.in_file(there, nodes):
                yield self._writer(cell, places, line, node)

    def _argument(self, cell: Cell[Any], places: Places, index: int | None, call: Node) -> Iterator[Writer]:
        """Yield the argument of one call for a parameter, if its value is on these devices."""
        self._rests_on |= {cell, call.state.function}
        value = cell.contributions.get(call.state.base + call.slot)
        if isinstance(value, AbstractValue) and is_in(value, places, index):
            yield self._writer(cell, places, line_of(*call), call)

    def _writer(self, cell: Cell[Any], places: Places, line: int, node: Node) -> Writer:
        text = text_of_contribution(cell, *node)
        step = Step(node.state.function.module.path, line, text, cell=cell) if text and line else None
        return self._operand(node, cell, places), step

    def _writers_of(
        self, cell: Cell[Any], places: Places, index: int | None, here: str, path: str
    ) -> _Writers:
        found: dict[str, list[Node]] = {}
        rests_on: set[object] = {cell}
        on_gpu: set[str] = set()  # files with code for other hardware alone come last
        for writer, value in cell.contributions.items():
            if isinstance(value, AbstractValue) and is_in(value, places, index):
                state = self._solver.state_of(writer)
                found.setdefault(state.function.module.path, []).append(Node(state, writer - state.base))
                if not runs_on_other_hardware(state.function):
                    on_gpu.add(state.function.module.path)
                rests_on.add(state.function)

        def order(each: tuple[str, list[Node]]) -> tuple[Any, ...]:
            there, _ = each
            nearness = -_shared(there, path), -_shared(there, here)
            return (there not in on_gpu, there != here, there != path, *nearness, there)

        return _Writers(sorted(found.items(), key=order), frozenset(rests_on), {})

    def _operand(self, node: Node, cell: Cell[Any], places: Places) -> Node:
        """Return the slot whose value an instruction contributes to a cell: an argument, or the stored value."""
        state, slot = node
        operands = state.ir.operands[slot]
        op = state.ir.ops[slot]
        if cell.sort == "defaults" and cell.key == "group":  # which the call makes of no argument
            return node
        if op in {Op.CALL, Op.CALL_METHOD, Op.CALL_SUPER}:
            argument = passed(state, slot, cell, places)
            return node if argument is None else Node(state, argument)
        if op == Op.RETURN and self._moment(node, places).trace.sighting is not None:
            return node
        stored = operands[1:] if op in {Op.STORE_ATTRIBUTE, Op.STORE_ITEM} else ()
        slots = [each for each in (*stored, *operands) if each >= 0]
        value = next((each for each in slots if is_in(state.values[each], places)), None)
        return node if value is None else Node(state, value)

    def others(self, state: State, steps: Sequence[Step], places: Places) -> tuple[Evidence, ...]:
        """Return the other call sites that pass a value to a function, beside the one in its chain."""
        parameters = {*state.function.parameters}
        step = next((each for each in steps if each.cell is not None and each.cell.key in parameters), None)
        if step is None or step.cell is None:
            return ()
        path = state.function.module.path
        asked = (step.cell, places, None, path, path)
        others = self._others.get(asked)
        if others is None:
            found = {
                (each.path, each.line): each for _, each in self._contributions(asked) if each is not None
            }
            others = {place: Evidence(*place, found[place].text) for place in sorted(found)}
            self._others[asked] = others
        self._rests_on |= self._writers[asked].rests_on
        before = {(each.path, each.line) for each in steps}
        return tuple([each for place, each in others.items() if place not in before])


class _Past(Provenance):
    """The provenance of values in the moments in which they first came to be on a device."""

    def __init__(self, solver: Solving) -> None:
        super().__init__(solver)
        self._histories: dict[State, History] = {}

    def chain_then(self, state: State, slot: Slot, places: Places, rests_on: set[object]) -> list[Step]:
        """Return the chain of a value, and add all that the chain depends on to ``rests_on``."""
        self._rests_on = rests_on
        return self.chain(state, slot, places)

    def chain(self, state: State, slot: Slot, places: Places, calls: Calls = ()) -> list[Step]:
        """See `Provenance`."""
        return self._search(state, slot, places, calls) or self._search(state, slot, places, matches=False)

    def _run(self, node: Node, places: Places) -> Moment:
        state, slot = node
        history = self._histories.get(state)
        if history is None:
            history = self._histories[state] = History(self._solver, state)
        first = history.first(slot, lambda value: is_in(value, places))
        return first or super()._run(node, places)


def _has_any_name(cell: Cell[Any]) -> bool:
    return cell.sort == "attributes" and cell.key[1] == ANY_NAME


def _followed(
    ways: Ways, asked: Asked, node: Node, inside: Visit, way: Part
) -> tuple[Visit | None, Sequence[Crossing]]:
    """Return in which visit a search follows a cell to all that contributes to it, if it does, and the calls to which it goes on."""
    cell, _ = asked
    if (
        node.state.ir.ops[node.slot] == Op.RESULT
    ):  # of a method that overrides another: the call is that of the other
        return inside, ()
    if cell.sort in _RETURNS:
        return ways.enter(asked, Caller(node, inside, way))
    if cell.sort in _ARGUMENTS and inside.callers:
        return None, inside.leave(asked, way)
    return ANYWHERE, ()


def _agrees(sighting: Sighting, index: int | None) -> bool:
    """Return whether the inferred devices of a value, or of one item, equal the observed ones."""
    known, seen = sighting.known, sighting.seen
    if known.items is not None and seen.items is not None and len(known.items) != len(seen.items):
        return False
    known, seen = item(known, index), item(seen, index)
    places = {
        part.device
        for part in parts_of(known)
        if part.kind is Kind.TENSOR and part.confidence >= Confidence.INFERRED
    }
    return places == {part.device for part in parts_of(seen) if part.kind is Kind.TENSOR}


@functools.lru_cache(maxsize=4096)
def _shared(one: str, other: str) -> int:
    """Return the number of leading folders that two paths share."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
