"""The order in which functions are evaluated, and what a change makes necessary of that.

Evaluations take place in rounds, and in each round every function has one turn, in the order of the functions.
So every evaluation has a moment of its own (`cells.moment`), which is the same in every run. A function takes its
turn in the first round, and after that in each round before which something has changed that it read in its last
evaluation. Where nobody is left to take one, those that are open begin again, and from then on assumptions answer
what is open.

A first run goes through the moments in order, and a revision does so too. It begins with functions whose source has
changed: what they told is withdrawn, and they run again. From the first moment on at which a cell is not what it was
at that moment in the run before, those that read it run again. What others told stays, for what they saw is what
they saw before.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.known.cells import (
    Cell,
    Event,
    Knowledge,
    moment,
    moment_of,
    next_turn,
    place_in,
    turn_of,
)
from syncscan.check.infer.known.trails import Evaluation, Trail, Trails
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.check.infer.values.identity import identical
from syncscan.check.infer.values.sharing import Shared

# A function is evaluated again when something that it reads changes; real projects settle within a few
# evaluations, and this bound keeps a pathological one from running on.
_MOST_EVALUATIONS = 28

ASSUMING = 1 << 12  # the first round in which assumptions answer what is open

Calls = tuple[list[tuple[Function | Virtual, Called]], list[Function]]

# What is done at one moment, in this order.
_COMPARE, _TAKE_TURN, _SETTLE = range(3)


class Ended(NamedTuple):
    """What a run has come to."""

    ran: set[Function]
    cells: list[Cell[Any]]  # that are not what they were
    calls_differ: bool  # whether any of the functions calls something else, or in another way


class Timeline:
    """The evaluations of a project, those to come and those that were."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self.trails = Trails()
        self._running: dict[Function, None] = {}  # that take their turns now, not as in the run before
        self.meeters: dict[
            Function, dict[Function, None]
        ] = {}  # for a lambda, the functions that have met it
        self._queue: list[tuple[int, int, int, Any]] = []
        self._entries = 0
        self._due: dict[
            Function, int
        ] = {}  # the rounds in which functions take, or may take, their next turn
        self._now = -1
        self._assumes = False
        self._before: dict[Cell[Any], list[Event]] | None = None  # the histories that a revision has touched
        self._shared = Shared()  # in the first run
        self._called: dict[Function, Calls] = {}  # what functions called before it took that back

    def begin(self, functions: Iterable[Function]) -> None:
        """Begin the first run."""
        for function in functions:
            self._running[function] = None
            self._enqueue(function, 0)

    def begin_again(self, functions: Iterable[Function], gone: Iterable[Function]) -> None:
        """Begin a revision, of functions whose source has changed and without those that are gone."""
        self._before, self._assumes, self._now = {}, False, -1
        self._called.clear()
        dropped = [evaluation for function in gone for evaluation in self._withdraw(function, 0)]
        for met in {met: None for evaluation in dropped for met in evaluation.lambdas}:
            self.restart(met, 0)
        for function in functions:
            self.restart(function, 0)

    def end(self) -> Ended:
        """End a run."""
        ran, before = set(self._running), self._before or {}
        cells = [cell for cell, old in before.items() if not identical(_last(cell, old), cell.value)]
        calls_differ = any(calls != self._calls(function) for function, calls in self._called.items())
        for function in [function for function in ran if not self.trails[function]]:
            self.trails.pop(function, None)
            self.meeters.pop(function, None)
        self._running.clear()
        self._before, self._shared = None, Shared()
        return Ended(ran, cells, calls_differ)

    def _calls(self, function: Function) -> Calls:
        """What a function calls, and how, in order."""
        known = self._known
        return [*known.callees.get(function, {}).items()], [*known.elsewhere.get(function, ())]

    def now(self, function: Function, turn: int) -> int | None:
        """The moment of a turn; None where all that is known was known before it."""
        return None if self._before is None else moment(turn, function)

    def next(self) -> tuple[Function, int] | None:
        """Who takes a turn next, and in which round; None where nobody does."""
        while self._queue or not self._assumes:
            if not self._assumes and (not self._queue or self._queue[0][0] >= moment_of(ASSUMING)):
                self._assumes = True
                for function in self._running:
                    if function in self._known.open:
                        self._enqueue(function, ASSUMING)
                continue
            self._now, what, _, item = heapq.heappop(self._queue)
            if what == _SETTLE:
                self._settle(item, self._now)
            elif what == _COMPARE:
                self._compare(item, self._now)
            elif self._takes_turn(item, turn_of(self._now)):
                return item, turn_of(self._now)
        return None

    def _takes_turn(self, function: Function, turn: int) -> bool:
        if self._due.get(function) != turn:
            return False
        del self._due[function]
        if not self._may_run(function, turn):
            return False
        if self._before is None or self._is_due(function, turn):
            return True
        self._look_ahead(function, turn + 1)
        return False

    def fails(self, function: Function) -> bool:
        """Whether the last evaluation of a function ended in an error."""
        trail = self.trails[function]
        return bool(trail) and trail[-1].error is not None

    def _may_run(self, function: Function, turn: int) -> bool:
        if self.fails(function):
            return False
        trail = self.trails[function]
        if len(trail) < _MOST_EVALUATIONS:
            return True
        of_stage = sum((each.turn >= ASSUMING) is (turn >= ASSUMING) for each in trail)
        return of_stage < _MOST_EVALUATIONS

    # What an evaluation says

    def commit(
        self, function: Function, evaluation: Evaluation, contributions: Mapping[Cell[Any], Any]
    ) -> None:
        """Let the project know what an evaluation yields, and queue whoever has read something else."""
        trail = self.trails[function]
        self._note_as_reader(function, trail, evaluation)
        trail.append(_sharing(trail, evaluation))
        when = moment(evaluation.turn, function)
        self._note(function, evaluation)
        for cell, fact in contributions.items():
            if self._before is None:
                if cell.contribute(evaluation.turn, function, fact, self._shared):
                    self._tell_readers(cell, when)
            else:
                self._touch(cell)
                cell.insert(evaluation.turn, function, fact)
                self._settle(cell, when)
        for met in evaluation.lambdas:
            self._meet(met, function, evaluation.turn)
        if self._before is not None:
            self._look_ahead(function, evaluation.turn + 1)

    def _note_as_reader(self, function: Function, trail: Trail, evaluation: Evaluation) -> None:
        """Note a function with the cells that it has not read before."""
        if trail and trail[-1].reads == evaluation.reads:
            return
        before = {cell for each in trail for cell in each.reads}
        for cell in evaluation.reads:
            if cell not in before:
                cell.read_by(function)

    def _note(self, function: Function, evaluation: Evaluation) -> None:
        known = self._known
        known.callees.setdefault(function, {}).update(evaluation.callees)
        if evaluation.elsewhere:
            known.elsewhere.setdefault(function, {}).update(dict.fromkeys(evaluation.elsewhere))
        if evaluation.is_open:
            known.open.add(function)
        if evaluation.may_block:
            known.may_block.add(function)

    def _meet(self, met: Function, function: Function, turn: int) -> None:
        """A lambda is run where it is met."""
        self.meeters.setdefault(met, {})[function] = None
        if self._before is None:
            self._running[met] = None
        elif met not in self._running:
            self.restart(met, next_turn(met, self._now))
        if not self._has_run(met, turn):
            self._enqueue(met, turn + 1)

    def _has_run(self, function: Function, turn: int) -> bool:
        """Whether a function has run before a turn, assumptions made or not as then."""
        is_assuming = turn >= ASSUMING
        return any((each.turn >= ASSUMING) is is_assuming for each in self.trails[function])

    def _tell_readers(self, cell: Cell[Any], when: int) -> None:
        """A cell has changed: those that have read it in their last evaluation run again."""
        turn = turn_of(when) + 1
        for reader in cell.readers:
            if reader in self._running and self._due.get(reader, turn + 1) > turn:
                trail = self.trails[reader]
                if trail and cell in trail[-1].reads:
                    self._enqueue(reader, turn)

    def _enqueue(self, function: Function, turn: int) -> None:
        if self._due.get(function, turn + 1) > turn:
            self._due[function] = turn
            self._push(moment(turn, function), _TAKE_TURN, function)

    def _push(self, when: int, what: int, item: object) -> None:
        self._entries += 1
        heapq.heappush(self._queue, (when, what, self._entries, item))

    # What a revision takes back

    def restart(self, function: Function, turn: int) -> None:
        """Have a function run again from a turn on; what it told since is withdrawn."""
        if function in self._running:
            return
        dropped = self._withdraw(function, turn)
        self._look_ahead(function, turn)
        for met in {met: None for evaluation in dropped for met in evaluation.lambdas}:
            self.restart(met, next_turn(met, self._now))

    def _withdraw(self, function: Function, turn: int) -> Trail:
        """Take back what a function told from a turn on; its evaluations since."""
        self._running[function] = None
        self._called[function] = self._calls(function)
        trail = self.trails[function]
        kept = [evaluation for evaluation in trail if evaluation.turn < turn]
        dropped = trail[len(kept) :]
        self.trails[function] = kept
        if dropped:
            self._forget(function, kept, dropped)
        return dropped

    def _forget(self, function: Function, kept: Trail, dropped: Trail) -> None:
        known = self._known
        for known_of in (known.callees, known.elsewhere):
            known_of.pop(function, None)
        known.open.discard(function)
        known.may_block.discard(function)
        for evaluation in kept:
            self._note(function, evaluation)
        still_read = {cell for evaluation in kept for cell in evaluation.reads}
        for cell in {cell: None for evaluation in dropped for cell in evaluation.reads}:
            if cell not in still_read:
                cell.readers.remove(function)
        for evaluation in dropped:
            when = moment(evaluation.turn, function)
            for cell in evaluation.told:
                self._touch(cell)
                cell.withdraw(when)
                self._push(when, _SETTLE, cell)

    def _is_due(self, function: Function, turn: int) -> bool:
        """Whether a function takes a turn, by what is known as its round begins."""
        if self._begins(function, turn):
            return True
        trail = self.trails[function]
        if not trail or turn == ASSUMING:
            return False
        since, begin = self._since(function, turn), moment_of(turn)
        return any((cell.next_change(since) or begin) < begin for cell in trail[-1].reads)

    def _since(self, function: Function, turn: int) -> int:
        """The moment since which changes make a function take a turn: those of its last one too, by itself."""
        last = self.trails[function][-1].turn
        return moment_of(ASSUMING) if last < ASSUMING <= turn else moment(last, function)

    def _begins(self, function: Function, turn: int) -> bool:
        """Whether a function takes a turn for the first time, assumptions made or not."""
        if self._has_run(function, turn):
            return False
        if turn == ASSUMING and function in self._known.open:
            return True
        return any(met < turn for met in self._met(function)) if function.is_lambda else turn == 0

    def _met(self, function: Function) -> Iterator[int]:
        """The rounds in which a lambda was met before it had run, assumptions made or not."""
        for meeter in self.meeters.get(function, ()):
            for evaluation in self.trails[meeter]:
                if function in evaluation.lambdas and not self._has_run(function, evaluation.turn):
                    yield evaluation.turn

    def _look_ahead(self, function: Function, turn: int) -> None:
        """Queue a function for its next turn from one on, as far as what is to come is known from the run before."""
        trail, turns = self.trails[function], []
        if not function.is_lambda and not trail:
            turns.append(0)
        if turn == ASSUMING and function in self._known.open and not self._has_run(function, turn):
            turns.append(turn)
        turns += (met + 1 for met in self._met(function))
        if trail:
            changes = (cell.next_change(self._since(function, turn)) for cell in trail[-1].reads)
            turns += (turn_of(change) + 1 for change in changes if change is not None)
        if turns:
            self._enqueue(function, max(turn, min(turns)))

    # What differs from the run before

    def _touch(self, cell: Cell[Any]) -> None:
        assert self._before is not None
        if cell not in self._before:
            self._before[cell] = cell.history.copy()

    def _settle(self, cell: Cell[Any], when: int) -> None:
        """Work out what is known in a cell after a moment, and wake those who saw something else."""
        assert self._before is not None
        value, has_changed = cell.fold(when)
        old = _after(cell, self._before[cell], when)
        differs = not identical(value, old)
        if not differs:
            value = old
        following = cell.note(when, value, is_news=has_changed)
        if has_changed:
            self._tell_readers(cell, when)
        if differs:
            self._wake(cell, when)
            if following is not None:
                self._push(following, _SETTLE, cell)

    def _wake(self, cell: Cell[Any], when: int) -> None:
        """A cell is not what it was: those who read it run again, or will when they read it."""
        for reader in [*cell.readers]:
            if reader in self._running:
                continue
            trail = self.trails[reader]
            turn = next_turn(reader, when)
            taken = sum(evaluation.turn < turn for evaluation in trail)
            follows = taken < len(trail) and trail[taken].turn == turn == turn_of(when)
            if taken and not follows and cell in trail[taken - 1].reads:
                self.restart(reader, turn)
                continue
            reading = next((each for each in trail[taken:] if cell in each.reads), None)
            if reading is not None:
                self._push(moment(reading.turn, reader), _COMPARE, reader)

    def _compare(self, function: Function, when: int) -> None:
        """Have a function run again where it would read something else than in the run before."""
        if function in self._running:
            return
        assert self._before is not None
        turn = turn_of(when)
        reads = next(each.reads for each in self.trails[function] if each.turn == turn)
        for cell in reads:
            if cell in self._before and not identical(
                cell.before(when), _after(cell, self._before[cell], when - 1)
            ):
                self.restart(function, turn)
                return


def _sharing(trail: Trail, evaluation: Evaluation) -> Evaluation:
    """An evaluation that shares with the one before what is the same in it, mostly what it read and called."""
    if not trail:
        return evaluation
    last = trail[-1]
    reads = last.reads if last.reads == evaluation.reads else evaluation.reads
    callees = last.callees if last.callees == evaluation.callees else evaluation.callees
    if reads is evaluation.reads and callees is evaluation.callees:
        return evaluation
    return replace(evaluation, reads=reads, callees=callees)


def _after(cell: Cell[Any], history: list[Event], when: int) -> Any:
    """What a history says was known after a moment."""
    place = place_in(history, when + 1)
    return history[place - 1].value if place else cell.nothing


def _last(cell: Cell[Any], history: list[Event]) -> Any:
    return history[-1].value if history else cell.nothing
