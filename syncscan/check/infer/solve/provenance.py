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
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any, NamedTuple

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Op, Slot
from syncscan.check.infer.solve.history import History, Moment
from syncscan.check.infer.solve.shown import line_of, line_of_use, text_of, text_of_contribution
from syncscan.check.infer.solve.steps import MOST_STEPS, Step, merged
from syncscan.check.infer.source.hardware import runs_on_other_hardware
from syncscan.check.infer.source.index import Parameter
from syncscan.check.infer.transfer.point import Origin, Point, Sighting, Solving, Trace
from syncscan.check.infer.transfer.registry import INSTRUCTIONS
from syncscan.check.infer.transfer.storing import ANY_NAME
from syncscan.model import ON_GPU, Confidence, Device, Evidence, Kind

_LONGEST = 16  # steps that are looked for

Places = frozenset[Device]
ON_HOST: Places = frozenset({Device.CPU})
ANYWHERE: Places = frozenset(Device)  # for what is no tensor


class _Node(NamedTuple):
    """An instruction of a function."""

    state: State
    slot: Slot


class _Writers(NamedTuple):
    """The instructions that contribute to a cell, by file, and the functions and files that contain them."""

    found: list[tuple[str, list[_Node]]]
    rests_on: frozenset[object]
    by_line: dict[str, list[tuple[int, _Node]]]  # of the files to which somebody came

    def in_file(self, path: str, nodes: Sequence[_Node]) -> list[tuple[int, _Node]]:
        """Return the writers in a file by line; files are read only when visited."""
        known = self.by_line.get(path)
        if known is None:
            lines = [(runs_on_other_hardware(node.state.function), line_of(*node), node) for node in nodes]
            known = self.by_line[path] = [each[1:] for each in sorted(lines, key=itemgetter(0, 1))]
        return known


# A cell, the places that are asked for, and the files nearest to which its contributions are to be
_Asked = tuple[Cell[Any], Places, str, str]
# The calls whose callees a chain is in, the innermost last; () where any call may lead further
Calls = tuple[_Node, ...]
# Ways to go on, in order: the steps and the calls to them, and instructions, each with the step to it
_Ways = deque[tuple[tuple[Step, ...], Calls, Iterator[tuple[_Node, "Step | None"]]]]
_MOST_CALLS = 3  # that a chain remembers
_RETURNS = frozenset({"returns", "virtual returns"})
_ARGUMENTS = frozenset({"parameters", "virtual arguments"})


class Provenance:
    """The provenance of values of one project, with caches for one revision."""

    def __init__(self, solver: Solving) -> None:
        self._solver = solver
        self._asked: set[_Node] = set()  # devices whose chains are looked for, one behind the other
        self._moments: dict[tuple[_Node, Places], Moment] = {}
        self._ends: dict[
            tuple[_Node, Places], Slot
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
        if steps or not _is_in(state.values[slot], places):
            return steps
        self._past = self._past or _Past(self._solver)
        return self._past.chain_then(state, slot, places, self._rests_on)

    def _search(
        self, state: State, slot: Slot, places: Places, calls: Calls = (), *, matches: bool = True
    ) -> list[Step]:
        """Return the shortest chain; without ``matches`` it may leave a function by other calls than it entered through."""
        path = state.function.module.path
        start = _Node(state, slot)
        queue: _Ways = deque([((), calls, iter([(start, None)]))])
        by_any_name: _Ways = deque()  # assignments under computed names, which may be of another attribute
        observed: tuple[Step, ...] = ()  # where nothing but a run says why
        seen: set[tuple[_Node, Calls]] = set()
        for way, inside, node in _in_turn(queue, by_any_name):
            if (node, inside) in seen:
                continue
            seen.add((node, inside))
            self._rests_on.update((node.state.function, node.state.function.module))
            root, cells, here_seen, end = self._within(node, places, seen, inside)
            steps = (*way, *here_seen)
            observed = observed or (steps if here_seen else ())
            if root is not None:
                whole = merged([*steps, *root])
                return whole if not observed or len(whole) <= MOST_STEPS else merged(observed)
            if len(steps) >= _LONGEST:
                continue
            here = steps[-1].path if steps else path
            for cell in cells:
                by = inside[-1] if inside and cell.sort in _ARGUMENTS else None
                further = _followed(inside, end, cell) if matches else ()
                ways = by_any_name if _has_any_name(cell) else queue
                ways.append((steps, further, self._contributions(cell, places, here, path, by)))
        return merged(observed)

    def _within(
        self, node: _Node, places: Places, seen: set[tuple[_Node, Calls]], calls: Calls
    ) -> tuple[list[Step] | None, list[Cell[Any]], list[Step], _Node]:
        """Follow the deciding operands within a function, to an origin or to the cells that are read.

        Also returns the steps from runtime facts on the way, and the instruction where this ends.
        """
        observed: list[Step] = []
        index: int | None = None
        state = node.state
        slot: Slot | None = node.slot
        visited: set[Slot] = set()
        is_straight = True  # whoever comes by later is led to where this ends, if no operand was passed over
        while slot is not None and slot not in visited:
            visited.add(slot)
            slot = self._ends.get((_Node(state, slot), places), slot)
            operands, read, trace = self._moment(_Node(state, slot), places)
            if trace.sighting is not None:
                observed.append(
                    Step(trace.sighting.origin.path, trace.sighting.origin.line, trace.sighting.origin.text)
                )
                if not _agrees(trace.sighting, index):
                    return [], [], observed, node
            cells = [cell for cell, value in read if _is_in(value, places)]
            if cells or trace.origins:
                if is_straight and not observed:
                    self._ends.update([((_Node(state, each), places), slot) for each in visited])
                root = None if cells else self._root(state, slot, trace.origins, seen, calls)
                return root, [*dict.fromkeys(cells)], observed, _Node(state, slot)
            index = _index_of(state, slot)
            is_straight &= visited.isdisjoint(state.ir.operands[slot])
            slot = _deciding(state, slot, operands, places, visited)
        return None, [], observed, node

    def _root(
        self,
        state: State,
        slot: Slot,
        origins: Sequence[Origin],
        seen: set[tuple[_Node, Calls]],
        calls: Calls,
    ) -> list[Step]:
        """Return the step of an origin, followed by the chain of its device argument."""
        origin = origins[0]
        line = origin.line or line_of(state, slot) or line_of_use(state, slot)
        shown = text_of(state, slot)
        text = origin.text.replace("{}", f"`{shown}`" if shown else "the value")
        step = Step(origin.path, line, text, is_placing=origin.is_placing, is_origin=True)
        device = _device_operand(state, slot) if step.is_placing else None
        if device is None:
            return [step]
        node = _Node(state, device)
        if (node, calls) in seen or node in self._asked:
            return [step]
        self._asked.add(node)
        behind = self.chain(state, device, ON_GPU, calls)
        self._asked.discard(node)
        return [step, *behind]

    def _moment(self, node: _Node, places: Places) -> Moment:
        moment = self._moments.get((node, places))
        if moment is None:
            moment = self._moments[node, places] = self._run(node, places)
        return moment

    def _run(self, node: _Node, places: Places) -> Moment:
        """Run an instruction with the final values."""
        state, slot = node
        point = Point(self._solver)
        point.stand_in(state)
        point.number, point.trace = slot, Trace()
        operands = [state.values[each] for each in state.ir.operands[slot]]
        INSTRUCTIONS[Op(state.ir.ops[slot])](point, operands, state.ir.data[slot])
        return Moment(operands, [(cell, cell.value) for cell in point.trace.cells], point.trace)

    def _contributions(
        self, cell: Cell[Any], places: Places, here: str, path: str, by: _Node | None = None
    ) -> Iterator[tuple[_Node, Step | None]]:
        """Yield the instructions that contribute a value on these devices to a cell, the nearest files first.

        With ``by``, that call alone counts.
        """
        asked = (cell, places, here, path)
        writers = self._writers.get(asked)
        if writers is None:
            writers = self._writers[asked] = self._writers_of(cell, places, here, path)
        self._rests_on |= writers.rests_on
        for there, nodes in writers.found:
            for line, node in writers.in_file(there, nodes):
                if by is not None and node != by:
                    continue
                text = text_of_contribution(cell, *node)
                start = self._operand(node, cell, places)
                yield start, None if not text or not line else Step(there, line, text, cell=cell)

    def _writers_of(self, cell: Cell[Any], places: Places, here: str, path: str) -> _Writers:
        found: dict[str, list[_Node]] = {}
        rests_on: set[object] = {cell}
        on_gpu: set[str] = set()  # files with code for other hardware alone come last
        for writer, value in cell.contributions.items():
            if isinstance(value, AbstractValue) and _is_in(value, places):
                state = self._solver.state_of(writer)
                found.setdefault(state.function.module.path, []).append(_Node(state, writer - state.base))
                if not runs_on_other_hardware(state.function):
                    on_gpu.add(state.function.module.path)
                rests_on.update((state.function, state.function.module))

        def order(each: tuple[str, list[_Node]]) -> tuple[Any, ...]:
            there, _ = each
            nearness = -_shared(there, path), -_shared(there, here)
            return (there not in on_gpu, there != here, there != path, *nearness, there)

        return _Writers(sorted(found.items(), key=order), frozenset(rests_on), {})

    def _operand(self, node: _Node, cell: Cell[Any], places: Places) -> _Node:
        """Return the slot whose value an instruction contributes to a cell: an argument, or the stored value."""
        state, slot = node
        operands = state.ir.operands[slot]
        op = state.ir.ops[slot]
        if cell.sort == "defaults" and cell.key == "group":  # which the call makes of no argument
            return node
        if op in {Op.CALL, Op.CALL_METHOD, Op.CALL_SUPER}:
            argument = _argument(state, slot, cell, places)
            return node if argument is None else _Node(state, argument)
        if op == Op.RETURN and self._moment(node, places).trace.sighting is not None:
            return node
        stored = operands[1:] if op in {Op.STORE_ATTRIBUTE, Op.STORE_ITEM} else ()
        slots = [each for each in (*stored, *operands) if each >= 0]
        value = next((each for each in slots if _is_in(state.values[each], places)), None)
        return node if value is None else _Node(state, value)

    def others(self, state: State, steps: Sequence[Step], places: Places) -> tuple[Evidence, ...]:
        """Return the other call sites that pass a value to a function, beside the one in its chain."""
        parameters = {*state.function.parameters}
        step = next((each for each in steps if each.cell is not None and each.cell.key in parameters), None)
        if step is None or step.cell is None:
            return ()
        path = state.function.module.path
        asked = (step.cell, places, path, path)
        others = self._others.get(asked)
        if others is None:
            found = {
                (each.path, each.line): each for _, each in self._contributions(*asked) if each is not None
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

    def _run(self, node: _Node, places: Places) -> Moment:
        state, slot = node
        history = self._histories.get(state)
        if history is None:
            history = self._histories[state] = History(self._solver, state)
        first = history.first(slot, lambda value: _is_in(value, places))
        return first or super()._run(node, places)


def _has_any_name(cell: Cell[Any]) -> bool:
    return cell.sort == "attributes" and cell.key[1] == ANY_NAME


def _followed(calls: Calls, call: _Node, cell: Cell[Any]) -> Calls:
    """Return the calls that a chain is in once it has followed a cell which an instruction reads."""
    if cell.sort in _RETURNS:
        return (*calls, call)[-_MOST_CALLS:]
    return calls[:-1] if cell.sort in _ARGUMENTS else ()


def _in_turn(ways: _Ways, later: _Ways) -> Iterator[tuple[tuple[Step, ...], Calls, _Node]]:
    """Yield the instructions of all pending paths in turn, each with the steps and the calls to it; the later paths last."""
    while ways or later:
        steps, calls, writers = (ways or later).popleft()
        for node, step in writers:
            yield (steps if step is None else (*steps, step)), calls, node


def _is_in(value: object, places: Places) -> bool:
    """Return whether a value, or a part of it, is on one of some devices."""
    if not isinstance(value, AbstractValue):
        return False
    if places is ON_GPU:
        return value.holds_gpu
    return any(part.device in places for part in parts_of(value))


_RANK = {Device.CUDA: 4, Device.MIXED: 3, Device.UNKNOWN: 2, Device.OTHER: 1, Device.CPU: 0}


_ADDS = frozenset({Op.PUT, Op.ADDED, Op.STORED})


def _deciding(
    state: State, slot: Slot, values: Sequence[AbstractValue], places: Places, visited: set[Slot]
) -> Slot | None:
    """Return the operand that decides the device of a value: the one with the most certain device, then the first."""
    best: tuple[int, int, int] | None = None
    found: Slot | None = None
    operands = [*zip(state.ir.operands[slot], values, strict=True)]
    if state.ir.ops[slot] == Op.SUBSCRIPT:
        operands = operands[:1]
    elif state.ir.ops[slot] in _ADDS:
        operands = operands[::-1]  # what is added before the container, whose own items may come from here
    for number, (each, value) in enumerate(operands):
        if each < 0 or each in visited or not _is_in(value, places):
            continue
        rank = max([(_RANK[part.device], int(part.confidence)) for part in parts_of(value)])
        if best is None or (*rank, -number) > best:
            best, found = (*rank, -number), each
    return found


def _index_of(state: State, slot: Slot) -> int | None:
    """Return the constant index of the item that an instruction extracts, or None."""
    if state.ir.ops[slot] == Op.UNPACKED:
        return int(state.ir.data[slot][0])
    payload = state.values[state.ir.operands[slot][1]].payload if state.ir.ops[slot] == Op.SUBSCRIPT else None
    return payload if isinstance(payload, int) else None


def _agrees(sighting: Sighting, index: int | None) -> bool:
    """Return whether the inferred devices of a value, or of one item, equal the observed ones."""
    known, seen = sighting.known, sighting.seen
    if known.items is not None and seen.items is not None and len(known.items) != len(seen.items):
        return False
    known, seen = _item(known, index), _item(seen, index)
    places = {
        part.device
        for part in parts_of(known)
        if part.kind is Kind.TENSOR and part.confidence > Confidence.ASSUMED
    }
    return places == {part.device for part in parts_of(seen) if part.kind is Kind.TENSOR}


def _item(value: AbstractValue, index: int | None) -> AbstractValue:
    """Return an item of a container if known individually, else the join of its elements."""
    if (
        value.items is not None
        and value.kind is not Kind.UNION
        and index is not None
        and index < len(value.items)
    ):
        return value.items[index]
    return value if value.element is None else value.element


def _device_operand(state: State, slot: Slot) -> Slot | None:
    """Return the slot of a call's argument that names a device, or None."""
    site = state.ir.data[slot]
    if not isinstance(site, CallSite):
        return None
    operands = state.ir.operands[slot]
    names = dict(
        zip(site.keywords, operands[len(operands) - len(site.keywords) - site.has_device :], strict=False)
    )
    if "device" in names:
        return names["device"]
    for each in reversed(operands):
        value = state.values[each] if each >= 0 else None
        if value is not None and value.holds_gpu and value.kind.value in {"device", "tensor"}:
            return each
    return None


def _argument(state: State, slot: Slot, cell: Cell[Any], places: Places) -> Slot | None:
    """Return the slot of the argument that a call contributes to a cell, or None."""
    called, arguments = _called_and_arguments(state, slot)
    found = _named_argument(state, slot, cell, arguments)
    if found is not None:
        return found
    on_gpu = [each for each in arguments if _is_in(state.values[each], places)]
    if on_gpu:
        return _alike_or_first(state, slot, cell, on_gpu)
    receivers = [each for each in called if _is_in(state.values[each], places)]
    return receivers[-1] if receivers else None


def _called_and_arguments(state: State, slot: Slot) -> tuple[Sequence[Slot], Sequence[Slot]]:
    """Return the operands of a call that denote the callee, and its arguments."""
    site: CallSite = state.ir.data[slot]
    operands = state.ir.operands[slot][: -1 if site.has_device else None]
    called = 0 if state.ir.ops[slot] == Op.CALL_SUPER else 2 if site.has_bound else 1
    return operands[:called], operands[called:]


def _named_argument(state: State, slot: Slot, cell: Cell[Any], arguments: Sequence[Slot]) -> Slot | None:
    """Return the argument for the parameter of a cell, by position or name, or None."""
    site: CallSite = state.ir.data[slot]
    key = cell.key
    if isinstance(key, Parameter):
        name, position = key.name, _position(key, state)
    elif cell.sort == "virtual arguments":
        name, position = key[2], key[2] if isinstance(key[2], int) else None
    elif cell.sort == "attributes":  # the call makes a record, and the argument is for a field
        fields = key[0].fields()
        name, position = key[1], fields.index(key[1]) if key[1] in fields else None
    else:
        return None
    if name in site.keywords:
        return arguments[site.positional + site.keywords.index(name)]
    return arguments[position] if position is not None and 0 <= position < site.positional else None


def _alike_or_first(state: State, slot: Slot, cell: Cell[Any], on_gpu: Sequence[Slot]) -> Slot:
    wanted = cell.contributions.get(state.base + slot)
    same = (
        each for each in on_gpu if isinstance(wanted, AbstractValue) and _alike(state.values[each], wanted)
    )
    return next(same, on_gpu[0])


def _position(parameter: Parameter, state: State) -> int | None:
    """Return the position of a parameter among the positional arguments of a call, without the receiver."""
    for callee in state.callees:
        plain = getattr(callee, "plain", ())
        if parameter in plain:
            is_method = callee.owner is not None and not callee.is_static  # type: ignore[union-attr]  # a function
            return plain.index(parameter) - is_method
    return None


def _alike(value: AbstractValue, contribution: AbstractValue) -> bool:
    return (value.kind, value.dtype, value.ndim) == (contribution.kind, contribution.dtype, contribution.ndim)


@functools.lru_cache(maxsize=4096)
def _shared(one: str, other: str) -> int:
    """Return the number of leading folders that two paths share."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
