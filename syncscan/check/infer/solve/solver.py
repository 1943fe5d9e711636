"""The solver: the least fixed point of a project, stratum by stratum.

An instruction runs when an operand or a cell that it reads has changed. Values only rise, so the worklist
empties. All functions on the worklist run in one step, and read the cells as they were before the step.
Each stratum then answers the questions left open, all of them from the same values. So the result depends on no
order of files or functions, and not on the names of modules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import syncscan.check.infer.transfer.everything  # noqa: F401 (which registers all transfer functions)
from syncscan.check.infer.dataflow.cells import Cell, Fact
from syncscan.check.infer.dataflow.context import Context
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.lattice import at_most, join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot
from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.lower.function import lower
from syncscan.check.infer.solve.deciding import ANYWHERE, ON_HOST, Places
from syncscan.check.infer.solve.incremental import ROUNDS, Replay, Revision
from syncscan.check.infer.solve.moves import Moves
from syncscan.check.infer.solve.provenance import Provenance
from syncscan.check.infer.solve.public import LazyEvidence, Reasons, public
from syncscan.check.infer.solve.record import Statements, Waits
from syncscan.check.infer.solve.recording import CandidateTest, statements
from syncscan.check.infer.solve.steps import evidence_of
from syncscan.check.infer.source.edits import ModuleEdit
from syncscan.check.infer.source.index import Function, Module, Virtual
from syncscan.check.infer.source.restructure import Consequences
from syncscan.check.infer.transfer.groups import is_process_group
from syncscan.check.infer.transfer.point import (
    ASSUMED_STRATUM,
    DECLARED_STRATUM,
    OPEN_STRATUM,
    SETTLED_STRATUM,
    USED_STRATUM,
    Point,
)
from syncscan.check.infer.transfer.registry import INSTRUCTIONS
from syncscan.facts import FactSet
from syncscan.model import ON_GPU, Conventions, Value
from syncscan.ops import OperationTable

_TRANSFERS: list[Any] = [INSTRUCTIONS.get(Op(number)) if number else None for number in range(len(Op) + 1)]
STRATA = (SETTLED_STRATUM, DECLARED_STRATUM, OPEN_STRATUM, ASSUMED_STRATUM, USED_STRATUM)
_FEW = 3000  # functions, which any change may have solved again,
_PART = 4  # and as many as this part of all
Progress = Callable[[str, int, int], None]


class Solver:
    """The inference of one project: its states, cells and worklist.

    ``asked`` has the full names of functions whose calls are candidates regardless of the operation table.
    ``facts`` are runtime facts.
    """

    def __init__(
        self,
        modules: list[Module],
        table: OperationTable,
        conventions: Conventions,
        asked: frozenset[str] = frozenset(),
        facts: FactSet | None = None,
    ) -> None:
        self.context = Context(modules, table, conventions, asked, facts)
        self.known = self.context.known
        self.states: dict[Function, State] = {}
        self.defects: dict[Function, Exception] = {}
        self._point = Point(self)
        self._point.stratum = 0
        self._test = CandidateTest(self)
        self.executed = 0
        self.rounds: dict[int, int] = {}  # of each stratum
        # By instruction: values that it gave earlier in a round, and no longer gives. They stay, so the result rests on the order.
        self.falls: Counter[str] = Counter()
        self._starts: dict[int, AbstractValue] = {}  # of slots that rose in a later round, as it began
        self._queue: list[State] = []
        self.turn = 0  # the round at hand
        self._bases: list[int] = []
        self._by_base: list[State] = []
        self._base = 0
        self._seen: dict[tuple[State, Slot], Value] = {}
        self._provenance: Provenance | None = None
        self._told: list[tuple[Cell[Any], Any, State, Slot]] = []  # in the step at hand
        self._replay: Replay | None = None
        self.revision = 0
        self._changed: dict[object, int] = {}  # the last revision in which a function or a cell did
        self._moves = Moves()

    @property
    def size(self) -> int:
        """The number of instructions, including those of earlier versions of functions."""
        return self._base

    def functions(self) -> list[Function]:
        """Return every function of the project, and the lambdas met, in order."""
        defined = [function for module in self.context.modules for function in module.functions]
        return [*defined, *self.context.scopes.all_lambdas()]

    def solve(self, progress: Progress) -> None:
        """Compute the fixed point from scratch."""
        functions = self.functions()
        for done, function in enumerate(functions):
            progress("infer", done, len(functions))
            self.wake_up(self._add(function))
        self.run()
        for stratum in STRATA:
            self.rounds[stratum], asking = 0, [*self.states.values()]
            while self.answer(stratum, stratum * ROUNDS + self.rounds[stratum], asking):
                asking = self.run()  # the others have had their answers
                self.rounds[stratum] += 1
        for state in self.states.values():
            self._conclude(state)

    def _conclude(self, state: State) -> None:
        """Publish the callees of a function, and whether the function may block."""
        function = state.function
        self.known.callees[function] = state.callees
        self.known.elsewhere[function] = state.elsewhere
        self.known.may_block.discard(function)
        try:
            if self._test.may_block(state):
                self.known.may_block.add(function)
        except Exception as error:
            self._note_defect(state, error)

    def revise(self, edits: Sequence[ModuleEdit], progress: Progress) -> Revision:
        """Update the fixed point after edits; return the affected functions.

        Raises NotFollowedError where the analysis must start anew; the solver is then in an undefined state.
        """
        found = self.context.restructure(edits)
        had_read = self.context.forget(edits)
        again = {*found.again, *had_read, *self._callers(found), *self._askers(found)}
        again.update(function for edit in edits for function in (*edit.functions, *edit.new))
        current = dict.fromkeys(self.functions())
        gone = [function for function in self.states if function not in current]
        replay = self._replay = Replay(self)
        for function in gone:
            replay.remove(self._drop(function))
        moves = [edit for edit in edits if edit.moves]
        self._lower_again(current, again, {edit.module for edit in moves})
        replay.solve(STRATA, progress, max(_FEW, len(current) // _PART))
        self._replay = None
        self._note_changed([*gone, *replay.touched(), *(state.function for state in replay.cone)])
        for edit in moves:
            if not edit.is_whole:
                self._moves.note(edit.module.path, edit.moved, self.revision)
        calls_differ = bool(gone) or any(edit.redefines for edit in edits)
        calls_differ |= self._conclude_again([*replay.cone])
        return Revision({*gone, *(state.function for state in replay.cone)}, calls_differ)

    def _note_changed(self, changed: Iterable[object]) -> None:
        """Begin a new revision, and record the functions and cells that changed."""
        self._seen.clear()
        self._provenance = None
        self.revision += 1
        self._changed.update(dict.fromkeys(changed, self.revision))

    def _conclude_again(self, states: Sequence[State]) -> bool:
        """Publish the callees of functions again; return whether any of them changed."""
        calls_differ = False
        for state in states:
            before = self.known.callees.get(state.function), self.known.elsewhere.get(state.function)
            calls_differ |= before != (state.callees, state.elsewhere)
            self._conclude(state)
        return calls_differ

    def _drop(self, function: Function) -> State:
        """Remove a deleted function; return its state."""
        for known in (self.known.callees, self.known.elsewhere, self.defects):
            known.pop(function, None)
        self.known.may_block.discard(function)
        return self.states.pop(function)

    def _lower_again(self, functions: Iterable[Function], again: set[Function], moved: set[Module]) -> None:
        """Lower new and affected functions, and add them to the cone."""
        assert self._replay is not None
        for function in functions:
            before = self.states.get(function)
            if before is None or function in again:
                self.defects.pop(function, None)
                if before is not None:
                    self._replay.remove(before)
                self._replay.add(self._add(function))
            elif function.module in moved:  # it may stand elsewhere
                before.ir = self.lowered(function)

    def _callers(self, found: Consequences) -> Iterator[Function]:
        """Yield the callers of functions whose heads changed."""
        for caller, callees in self.known.callees.items() if found.heads else ():
            for callee in callees:
                called = callee.below if isinstance(callee, Virtual) else (callee,)
                if any(each in found.heads for each in called):
                    yield caller
                    break

    def _askers(self, found: Consequences) -> Iterator[Function]:
        """Yield the functions whose name lookups may have other results."""
        asked = self.known.asked
        for question in found.questions:
            yield from asked[question]
        for question in [*asked] if found.files else ():
            if found.concern(question):
                yield from asked[question]

    def state_of(self, instruction: int) -> State:
        """Return the state of the function that contains an instruction, by its number in the whole project."""
        return self._by_base[bisect_right(self._bases, instruction) - 1]

    def statements(self, function: Function, waits: Waits | None = None) -> Statements:
        """Return the recorded statements of a function; those where a GPU value may block have ``blocks`` set.

        With ``waits``, a read of one of these properties counts as blocking.
        """
        if function in self.defects:
            return {}
        return statements(self, self.states[function], waits or {}, self._shown)

    def _shown(self, state: State, slot: Slot | None, value: AbstractValue) -> Value:
        """Return a value in the form for rules, with lazy evidence."""
        on_gpu = value.holds_gpu
        if slot is not None and is_process_group(value):
            return public(value, LazyEvidence(Explanation(self, state, slot, ANYWHERE)))
        if slot is None or not (on_gpu or value.is_cpu_tensor):
            return public(value)
        known = self._seen.get((state, slot))
        if known is None:
            explanation = Explanation(self, state, slot, ON_GPU if on_gpu else ON_HOST)
            known = self._seen[state, slot] = public(value, LazyEvidence(explanation))
        return known

    def explain(self, state: State, slot: Slot, places: Places) -> Reasons:
        """Return the provenance of a slot's value on one of some devices."""
        if self._provenance is None:
            self._provenance = Provenance(self)
        steps, passed_too, rests_on = self._provenance.reasons(state, slot, places)
        return Reasons(evidence_of(steps), passed_too, rests_on, self.revision)

    def current(self, reasons: Reasons) -> Reasons | None:
        """Return a provenance with the lines of now, or None where anything that it depends on has changed since."""
        if reasons.revision == self.revision:
            return reasons
        changed = self._changed
        if any(changed.get(each, 0) > reasons.revision for each in reasons.rests_on):
            return None
        return self._moves.carried(reasons, self.revision)

    def _add(self, function: Function) -> State:
        state = State(function, self.lowered(function), self._base)
        self.take(state)
        return state

    def take(self, state: State) -> None:
        """Append the state of a function to the numbering of instructions."""
        self.states[state.function] = state
        self._bases.append(state.base)
        self._by_base.append(state)
        self._base = state.base + state.size

    def lowered(self, function: Function) -> FunctionIR:
        """Return the instructions of a function; after an internal error, record a defect and return no instructions."""
        function.module.read()  # which gives parameters their defaults
        try:
            return lower(function, self.context.scopes, self.context.conventions)
        except NotKeptError:
            raise
        except Exception as error:
            self.defects[function] = error
            return FunctionIR()

    def meet(self, function: Function) -> None:
        """Add a lambda to the project."""
        if function not in self.states:
            state = self._add(function)
            if self._replay is not None:
                self._replay.add(state)
            self.wake_up(state)

    def wake_up(self, state: State) -> None:
        """Put every instruction of a function on the worklist."""
        state.due = range(len(state.ir))
        self._enqueue(state)

    def _enqueue(self, state: State) -> None:
        if not state.is_queued:
            state.is_queued = True
            self._queue.append(state)

    def run(self) -> list[State]:
        """Run the worklist, step by step, until it is empty; return the functions that ran."""
        ran: dict[State, None] = {}
        while self._queue:
            step, self._queue = self._queue, []
            ran.update(dict.fromkeys(step))
            for state in step:
                try:
                    self._drain(state)
                except Exception as error:
                    self._note_defect(state, error)
                state.is_queued = False
            self._end_step()
        return [*ran]

    def _end_step(self) -> None:
        """Apply the contributions of a step to the cells, and wake their readers."""
        told, self._told = self._told, []
        for cell, fact, state, number in told:
            writer = state.base + number
            if writer not in cell.contributions:
                state.told.append(cell)
                if self._replay is not None:
                    self._replay.note_told(cell)
            if cell.contribute(writer, fact, self.turn):
                self.wake(cell)

    def _note_defect(self, state: State, error: Exception) -> None:
        """Record an internal error as a defect of the function, whose earlier contributions stay."""
        if isinstance(error, NotKeptError):  # of another run, and no fault of the function
            raise error
        self.defects[state.function] = error
        state.due = None
        state.open.clear()

    def _drain(self, state: State) -> None:
        """Run the due instructions of a function in order."""
        if state.function in self.defects:
            state.due = None
            return
        ir, values, uses, point = state.ir, state.values, state.uses, self._point
        ops, all_operands, data, is_open = ir.ops, ir.operands, ir.data, state.open
        point.stand_in(state)
        later = {*(state.due or ())}  # what an instruction behind it has woken waits for the next pass
        while later:
            ahead, queued, later = sorted(later), later, set()
            while ahead:  # in order, so that each runs once in a pass, after its operands
                number = heappop(ahead)
                self.executed += 1
                point.number = number
                point.site = point.default_device = None
                if is_open:
                    is_open.pop(number, None)
                operands = [values[slot] for slot in all_operands[number]]
                after = _TRANSFERS[ops[number]](point, operands, data[number])
                before = values[number]
                if after is before:
                    continue
                whole = join(before, after)
                if whole is not after:
                    self._note_fall(state, number, after)
                if whole is before:
                    continue
                values[number] = whole
                if self.turn:
                    self._starts.setdefault(state.base + number, before)
                for use in uses[number]:
                    if use <= number:
                        later.add(use)
                    elif use not in queued:
                        queued.add(use)
                        heappush(ahead, use)
        state.due = None

    def _note_fall(self, state: State, number: Slot, after: AbstractValue) -> None:
        """Count a value that an instruction gave earlier in this round and takes back; an answer of a stratum may stay.

        What waits for its callees to be settled gives the value again.
        """
        if state.open.get(number) == SETTLED_STRATUM:
            return
        start = self._starts.get(state.base + number) if self.turn else BOTTOM
        if start is not None and not at_most(state.values[number], join(start, after)):
            self.falls[Op(state.ir.ops[number]).name] += 1

    def _execute(self, state: State, number: Slot) -> AbstractValue:
        """Run one instruction; return its value."""
        self.executed += 1
        point, ir, values = self._point, state.ir, state.values
        point.stand_in(state)
        point.number = number
        point.site = point.default_device = None
        state.open.pop(number, None)
        operands = [values[slot] for slot in ir.operands[number]]
        value: AbstractValue = _TRANSFERS[ir.ops[number]](point, operands, ir.data[number])
        return value

    # What instructions do

    def read(self, cell: Cell[Fact], state: State, number: Slot) -> Fact:
        """Read a cell on behalf of an instruction, which becomes its reader."""
        reader = state.base + number
        if reader not in cell.readers:  # most have read it before
            cell.read_by(reader)
            state.reads.append(cell)
        if self._replay is not None:
            self._replay.enter(cell)
        return cell.value

    def tell(self, cell: Cell[Fact], fact: Fact, state: State, number: Slot) -> None:
        """Contribute to a cell on behalf of an instruction, at the end of the step."""
        self._told.append((cell, fact, state, number))

    def wake(self, cell: Cell[Any]) -> None:
        """Put the readers of a cell on the worklist."""
        bases, states, is_replay = self._bases, self._by_base, self._replay is not None
        for reader in cell.readers:
            state = states[bisect_right(bases, reader) - 1]
            if is_replay and not state.is_replayed:
                continue
            due = state.due
            if due is None:
                state.due = {reader - state.base}
            elif type(due) is set:  # else all of them are
                due.add(reader - state.base)
            if not state.is_queued:
                self._enqueue(state)

    # Strata

    def answer(self, stratum: int, turn: int, states: Iterable[State]) -> bool:
        """Answer all open questions of functions up to a stratum, from the current values; return whether there were any."""
        asking = [
            (state, number) for state in states for number, asked in state.open.items() if asked <= stratum
        ]
        if not asking:
            return False
        self.turn = turn
        self._starts.clear()
        found = []
        self._point.stratum = stratum
        for state, number in asking:
            try:
                found.append((state, number, self._execute(state, number)))
            except Exception as error:
                self._note_defect(state, error)
        self._point.stratum = 0
        self._end_step()
        for state, number, value in found:
            whole = join(state.values[number], value)
            if whole is not state.values[number]:
                state.values[number] = whole
                state.due = {*(state.due or ()), *state.uses[number]}
                self._enqueue(state)
        return True


@dataclass(frozen=True, slots=True)
class Explanation:
    """The deferred provenance of a slot's value."""

    solver: Solver
    state: State
    slot: Slot
    places: Places

    def __call__(self) -> Reasons:
        """See `Explain`."""
        return self.solver.explain(self.state, self.slot, self.places)

    def current(self, reasons: Reasons) -> Reasons | None:
        """See `Explain`."""
        return self.solver.current(reasons)
