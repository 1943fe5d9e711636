"""Cells: what is known, told by those who write it, for those who read it.

Writers and readers are functions of the project. What a writer tells grows with each of its evaluations, and the
value of a cell is the join of all that it was told, in the order in which it was. A cell keeps that history, so
that what a function told can be taken back, and what was known at any moment be looked up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.source.index import Class, Function, Module, Parameter, Virtual
from syncscan.check.infer.values.lattice import join
from syncscan.check.infer.values.sharing import Shared
from syncscan.model import UNKNOWN, Value

# A place of an argument: its number, or its name where it is passed by that; and a parameter's name with its place.
Slot = int | str
Named = tuple[str, Slot]
Fact = TypeVar("Fact", Value, frozenset[Class], frozenset[str], frozenset[Slot], frozenset[Named])
Key = TypeVar("Key")
Question = tuple[
    Class | Module | str, str
]  # a member of a class or of a module; what is imported from one of a name


_ROUND = 44  # bits below the number of the round, for the order of the functions in it


def moment(turn: int, function: Function) -> int:
    """When a function has its turn in a round: of all evaluations, each has a moment of its own."""
    return (turn << _ROUND) + function.order


def moment_of(turn: int) -> int:
    """When a round begins."""
    return turn << _ROUND


def turn_of(when: int) -> int:
    """The round in which a moment lies."""
    return when >> _ROUND


def next_turn(function: Function, when: int) -> int:
    """The round in which a function has its first turn after a moment."""
    turn = when >> _ROUND
    return turn if moment(turn, function) > when else turn + 1


class Event(NamedTuple):
    """What a writer told in a round, all that it had told before included; what was known then, and if by that."""

    turn: int
    writer: Function
    fact: Any
    value: Any
    is_news: bool

    @property
    def when(self) -> int:
        """The moment."""
        return (self.turn << _ROUND) + self.writer.order


class Cell(Generic[Fact]):
    """One thing that is known: the history of what its writers told, and the functions that have read it.

    ``sort`` and ``key`` say what it is about.
    """

    __slots__ = ("_last", "_recall", "history", "key", "nothing", "readers", "sort", "value")

    def __init__(self, nothing: Fact, sort: str, key: object) -> None:
        self.nothing: Fact = nothing
        self.sort = sort
        self.key = key
        self.fill(_NONE, _NONE)

    def fill(self, history: list[Event], readers: list[Function]) -> None:
        """Let it be known."""
        self.history = history
        self.value: Fact = history[-1].value if history else self.nothing
        self._last: dict[Function, Fact] | None = None  # what each writer told last, of a long history
        self.readers = readers

    def contribute(self, turn: int, writer: Function, fact: Fact, shared: Shared) -> bool:
        """Add what a writer tells after all others; True if more is known by that."""
        fact = shared.one(fact)
        whole = joined(self.value, fact)
        if whole is not None:
            self.value = whole if whole is fact else shared.one(whole)
        self._add(len(self.history), Event(turn, writer, fact, self.value, whole is not None))
        if self._last is not None:
            self._last[writer] = fact
        return whole is not None

    def _add(self, place: int, event: Event) -> None:
        if self.history:
            self.history.insert(place, event)
        else:
            self.history = [event]  # a list that grows makes room for four

    def read_by(self, reader: Function) -> None:
        """Note one more reader."""
        if self.readers:
            self.readers.append(reader)
        else:
            self.readers = [reader]

    def told_by(self, writer: Function) -> Fact | None:
        """What a writer told last; None where it told nothing."""
        if len(self.history) > _LONG:
            if self._last is None:
                self._last = self.told()
            return self._last.get(writer)
        for event in reversed(self.history):
            if event.writer is writer:
                fact: Fact = event.fact
                return fact
        return None

    def told(self) -> dict[Function, Fact]:
        """What each writer told last."""
        return {event.writer: event.fact for event in self.history}

    def before(self, when: int) -> Fact:
        """What was known just before a moment."""
        place = place_in(self.history, when)
        value: Fact = self.history[place - 1].value if place else self.nothing
        return value

    def next_change(self, since: int) -> int | None:
        """The first moment from one on at which more became known; None where nothing did."""
        history = self.history
        first = place_in(history, since)
        return next((history[n].when for n in range(first, len(history)) if history[n].is_news), None)

    def told_in_order(self) -> Iterable[Fact]:
        """What each writer told, in the order of the functions."""
        told = self.told()
        return [told[writer] for writer in sorted(told, key=_order)]

    # What a revision does

    def insert(self, turn: int, writer: Function, fact: Fact) -> None:
        """Add what a writer tells, where others told something later; what is known by that is left open."""
        self._last = None
        event = Event(turn, writer, fact, self.nothing, False)
        self._add(place_in(self.history, event.when), event)

    def withdraw(self, when: int) -> None:
        """Take back what was told at a moment."""
        self._last = None
        del self.history[place_in(self.history, when)]

    def fold(self, when: int) -> tuple[Fact, bool]:
        """What is known after a moment, by what was known before it, and whether that is more."""
        known = self.before(when)
        place = place_in(self.history, when)
        if place == len(self.history) or self.history[place].when != when:
            return known, False
        whole = joined(known, self.history[place].fact)
        return (known, False) if whole is None else (whole, True)

    def note(self, when: int, value: Fact, *, is_news: bool) -> int | None:
        """Note what is known after a moment; the next one at which something was told, if any."""
        place = place_in(self.history, when)
        if place < len(self.history) and self.history[place].when == when:
            self.history[place] = self.history[place]._replace(value=value, is_news=is_news)
            place += 1
        self.value = self.history[-1].value if self.history else self.nothing
        return self.history[place].when if place < len(self.history) else None


Recall = Callable[[Cell[Any]], None]


class UnfilledCell(Cell[Fact]):
    """A cell of an earlier run, which ``recall`` fills when it is first looked at; then it is one like all others."""

    __slots__ = ()

    def __init__(self, nothing: Fact, sort: str, key: object, recall: Recall) -> None:
        self.nothing: Fact = nothing
        self.sort = sort
        self.key = key
        self._recall = recall

    def __getattr__(self, name: str) -> Any:
        """What is asked for while it is not filled."""
        if name not in _FILLED:
            raise AttributeError(name)
        cell: Cell[Fact] = self
        cell.__class__ = Cell
        self._recall(cell)
        return getattr(self, name)


_FILLED = frozenset({"_last", "history", "readers", "value"})
_NONE: list[Any] = []  # of most cells, for all; what is added to it is another list
_LONG = 8  # of what is looked through; where there is more, that takes longer than it saves memory


def place_in(history: list[Event], when: int) -> int:
    """The number of events before a moment."""
    if not history or history[-1].when < when:
        return len(history)
    return bisect_left(history, when, key=_when)


def _order(writer: Function) -> int:
    return writer.order


def _when(event: Event) -> int:
    return event.when


def joined(known: Fact | None, more: Fact) -> Fact | None:
    """What is known together with more; None where that is known already."""
    if known is None:
        return more
    if known is more:
        return None
    if isinstance(known, Value):
        assert isinstance(more, Value)
        whole = join(known, more)
        return None if whole is known or whole == known else whole
    return None if more <= known else known | more


class Cells(dict[Key, Cell[Fact]]):
    """The cells of one sort, made as they are asked for; ``recall`` fills those of an earlier run."""

    def __init__(self, sort: str, nothing: Fact) -> None:
        self.sort = sort
        self.recall: Recall | None = None
        self._nothing: Fact = nothing

    def __missing__(self, key: Key) -> Cell[Fact]:
        cell: Cell[Fact]
        if self.recall is None:
            cell = self[key] = Cell(self._nothing, self.sort, key)
        else:
            cell = self[key] = UnfilledCell(self._nothing, self.sort, key, self.recall)
        return cell


ANY_TEXT = "*"  # as parameters take no text of a star, it stands for all


class Knowledge:
    """What is known of a project: every cell, and what the evaluations said besides."""

    def __init__(self) -> None:
        self.parameters: Cells[Parameter, Value] = Cells("parameters", UNKNOWN)
        self.returns: Cells[Function, Value] = Cells("returns", UNKNOWN)
        self.attributes: Cells[tuple[Class, str], Value] = Cells("attributes", UNKNOWN)
        self.globals: Cells[tuple[Module, str], Value] = Cells("globals", UNKNOWN)
        self.captured: Cells[tuple[Function, str], Value] = Cells(
            "captured", UNKNOWN
        )  # by functions in a function
        # The classes on whose objects an attribute of this name is set, by code that is not their own.
        self.set_outside: Cells[str, frozenset[Class]] = Cells("set_outside", frozenset())
        # What the bodies of classes set in an attribute, which an object has as `__init__` begins.
        self.set_in_bodies: Cells[tuple[Class, str], Value] = Cells("set_in_bodies", UNKNOWN)
        # The parameters that put a result of a function on the GPU; "" where something else does.
        self.placing: Cells[Function, frozenset[str]] = Cells("placing", frozenset())
        # The texts that callers pass to a parameter; `ANY_TEXT` where it is not known which.
        self.texts: Cells[Parameter, frozenset[str]] = Cells("texts", frozenset())
        self.defaults: Cells[str, Value] = Cells("defaults", UNKNOWN)
        self.virtual = VirtualKnowledge()

        self.callees: dict[Function, dict[Function | Virtual, Called]] = {}
        self.elsewhere: dict[Function, dict[Function, None]] = {}  # called in branches for other hardware
        self.open: set[Function] = set()  # that ask something which only an assumption answers
        self.may_block: set[Function] = set()  # in which a GPU value reaches a place that may block
        # Who has asked what a class, a module as a value, or an import in a function has under a name.
        self.asked: dict[Question, tuple[Function, ...] | set[Function]] = {}
        self.recall_asked: Callable[[], Iterable[tuple[Question, Iterable[Function]]]] | None = None

    def asks(self, asker: Function, question: Question) -> None:
        """Note who asks what."""
        askers = self.asked.get(question, ())
        if asker in askers:
            return
        if isinstance(askers, set):
            askers.add(asker)
        elif len(askers) < _LONG:
            self.asked[question] = (*askers, asker)  # a set takes four times as much
        else:
            self.asked[question] = {*askers, asker}

    def all_asked(self) -> Mapping[Question, Iterable[Function]]:
        """Who has asked what, in an earlier run too."""
        recall, self.recall_asked = self.recall_asked, None
        for question, askers in recall() if recall is not None else ():
            for asker in askers:
                self.asks(asker, question)
        return self.asked

    @property
    def default_device(self) -> Cell[Value]:
        """Where `with torch.device(...)` puts what is made in it, modules among it; nowhere if that is the CPU."""
        return self.defaults["device"]

    @property
    def default_group(self) -> Cell[Value]:
        """The process group that collectives without one are for; nothing where programs make it in several ways."""
        return self.defaults["group"]

    def cells(self) -> dict[str, Cells[Any, Any]]:
        """All cells, by their sorts."""
        known = [*vars(self).values(), *vars(self.virtual).values()]
        return {cells.sort: cells for cells in known if isinstance(cells, Cells)}


class VirtualKnowledge:
    """What is known of methods as they are called through a class above theirs.

    Callers tell it once, whichever methods they may run, and each of those reads it once. What code outside the
    project passes, such as tests, is kept apart.
    """

    def __init__(self) -> None:
        self.slots: Cells[tuple[Virtual, bool], frozenset[Slot]] = Cells(
            "virtual slots", frozenset()
        )  # that callers fill
        self.arguments: Cells[tuple[Virtual, bool, Slot], Value] = Cells("virtual arguments", UNKNOWN)
        self.returns: Cells[Virtual, Value] = Cells("virtual returns", UNKNOWN)
        # The parameters that put a result on the GPU, as in `Knowledge.placing`.
        self.placing: Cells[Virtual, frozenset[Named]] = Cells("virtual placing", frozenset())
