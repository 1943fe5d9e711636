"""Cells: the dataflow facts that instructions write in one function and read in another.

The value of a cell is the join of its contributions, one for each writing instruction. The value therefore
does not depend on the order of the contributions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, Generic, TypeVar

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class, Function, Module, Virtual
from syncscan.check.infer.source.parameters import Parameter

# A place of an argument: its number, or its name where it is passed by that; and a parameter's name with its place.
Place = int | str
Named = tuple[str, Place]
Fact = TypeVar("Fact", AbstractValue, frozenset[Class], frozenset[str], frozenset[Place], frozenset[Named])
Key = TypeVar("Key")
# A member of a class or of a module; what is imported from one of a name; what a function of a module answers to None.
Question = tuple[Class | Module | str, str]

UNLESS_NONE = "?"  # behind the name of a parameter whose argument a function hands back if it is not None
MOVED = "to()"  # among what a function hands back: it may have moved modules of it
LEFT_OUT: Final = frozenset({"left out"})
PERHAPS_PASSED: Final = frozenset({"perhaps passed"})
ANY_TEXT: Final = "*"  # as parameters take no text of a star, it stands for all


class Cell(Generic[Fact]):
    """One dataflow fact; ``sort`` and ``key`` identify its subject.

    Writers and readers are instructions, numbered across the whole project. ``late`` has the contributions by
    round, for writers that did not contribute everything in the first round.
    """

    __slots__ = ("contributions", "key", "late", "nothing", "readers", "sort", "value")

    def __init__(self, nothing: Fact, sort: str, key: object) -> None:
        self.nothing: Fact = nothing
        self.value: Fact = nothing
        self.sort = sort
        self.key: Any = key
        self.contributions: dict[int, Fact] = _NO_CONTRIBUTIONS
        self.late: dict[int, list[tuple[int, Fact]]] | None = None
        self.readers: tuple[int, ...] | set[int] = ()

    def contribute(self, writer: int, fact: Fact, turn: int) -> bool:
        """Join a contribution made in round ``turn``; return whether the value of the cell has changed."""
        contributions = self.contributions
        known = contributions.get(writer)
        if known is None:
            if contributions is _NO_CONTRIBUTIONS:
                contributions = self.contributions = {}
        else:
            if known is fact:
                return False
            fact = united(known, fact)
            if fact is known:
                return False
        contributions[writer] = fact
        if turn:
            self._note_late(writer, known, fact, turn)
        value = self.value
        whole = united(value, fact)
        if whole is value or whole == value:
            return False
        self.value = whole
        return True

    def _note_late(self, writer: int, before: Fact | None, fact: Fact, turn: int) -> None:
        if self.late is None:
            self.late = {}
        changes = self.late.get(writer)
        if changes is None:
            changes = self.late[writer] = [] if before is None else [(0, before)]
        if changes and changes[-1][0] == turn:
            changes.pop()
        changes.append((turn, fact))

    def read_by(self, reader: int) -> None:
        """Add a reader that is new."""
        readers: tuple[int, ...] | set[int] = self.readers
        if type(readers) is set:
            readers.add(reader)
        elif len(readers) < _FEW:
            self.readers = (*readers, reader)  # a set takes ten times as much
        else:
            self.readers = {*readers, reader}

    def changes(self, without: Collection[int] = ()) -> list[tuple[int, Fact]]:
        """Return the value at the end of each round in which the value changed, without the contributions of some writers."""
        by_round: dict[int, list[Fact]] = {}
        late = self.late or {}
        for writer, fact in self.contributions.items():
            if writer not in without:
                for turn, each in late.get(writer, ((0, fact),)):
                    by_round.setdefault(turn, []).append(each)
        value, found = self.nothing, []
        for turn in sorted(by_round):
            before = value
            for fact in by_round[turn]:
                value = united(value, fact)
            if value is not before and value != before:
                found.append((turn, value))
        return found


_FEW: Final = 8
_NO_CONTRIBUTIONS: Final[dict[int, Any]] = {}  # of most cells, for all


def united(known: Any, more: Any) -> Any:
    """Return the join of two facts; ``known`` itself if it covers both."""
    if isinstance(known, AbstractValue):
        return join(known, more)
    return known if more <= known else known | more


class Cells(dict[Key, Cell[Fact]]):
    """The cells of one sort, created on access."""

    def __init__(self, sort: str, nothing: Fact) -> None:
        self.sort = sort
        self.recall: Callable[[Cell[Fact]], None] | None = None  # fills a cell as it was in an earlier run
        self._nothing: Fact = nothing

    def __missing__(self, key: Key) -> Cell[Fact]:
        cell: Cell[Fact] = Cell(self._nothing, self.sort, key)
        self[key] = cell
        if self.recall is not None:
            self.recall(cell)
        return cell


class Askers(dict[Question, Collection[Function]]):
    """The functions that have looked up a name in a class, in a module as a value, or by an import in a function."""

    def __init__(self) -> None:
        super().__init__()
        self.recall: Callable[[Question], Collection[Function]] | None = (
            None  # returns those of an earlier run
        )

    def __missing__(self, question: Question) -> Collection[Function]:
        askers = self[question] = () if self.recall is None else self.recall(question)
        return askers


# Named one by one, because an object of a compiled class does not list its attributes.
_SORTS: Final = (
    "parameters", "filled", "returns", "attributes", "globals", "captured", "set_outside", "set_in_bodies", "registered", "placing", "texts",
    "beside_texts", "defaulted", "handed", "virtual_handed", "defaults", "virtual_places", "virtual_arguments", "virtual_returns", "virtual_placing",
)  # fmt: skip


class Knowledge:
    """All cells of a project, and its call graph."""

    def __init__(self) -> None:
        self.parameters: Cells[Parameter, AbstractValue] = Cells("parameters", BOTTOM)
        # What a function adds to a container that is passed to a parameter.
        self.filled: Cells[Parameter, AbstractValue] = Cells("filled", BOTTOM)
        self.returns: Cells[Function, AbstractValue] = Cells("returns", BOTTOM)
        self.attributes: Cells[tuple[Class, str], AbstractValue] = Cells("attributes", BOTTOM)
        self.globals: Cells[tuple[Module, str], AbstractValue] = Cells("globals", BOTTOM)
        self.captured: Cells[tuple[Function, str], AbstractValue] = Cells("captured", BOTTOM)
        # The classes on whose objects an attribute of this name is set, by code that is not their own.
        self.set_outside: Cells[str, frozenset[Class]] = Cells("set_outside", frozenset())
        # What the bodies of classes set in an attribute, which an object has as `__init__` begins.
        self.set_in_bodies: Cells[tuple[Class, str], AbstractValue] = Cells("set_in_bodies", BOTTOM)
        # What a module registers, as it is before the module moves.
        self.registered: Cells[tuple[Class, str], AbstractValue] = Cells("registered", BOTTOM)
        # The parameters that put a result of a function on the GPU; "" where something else does.
        self.placing: Cells[Function, frozenset[str]] = Cells("placing", frozenset())
        # The parameters that a function returns as they are on some path, whose arguments are results of a call.
        self.handed: Cells[Function, frozenset[str]] = Cells("handed", frozenset())
        # The texts that callers pass to a parameter; `ANY_TEXT` where it is not known which.
        self.texts: Cells[Parameter, frozenset[str]] = Cells("texts", frozenset())
        # What callers pass to another parameter beside a text for a parameter that names attributes.
        self.beside_texts: Cells[tuple[Parameter, str, Parameter], AbstractValue] = Cells(
            "beside texts", BOTTOM
        )
        # Whether calls leave out a parameter with a default, or may pass an unknown value.
        self.defaulted: Cells[Parameter, frozenset[str]] = Cells("defaulted", frozenset())
        self.defaults: Cells[str, AbstractValue] = Cells("defaults", BOTTOM)
        # Methods as they are called through a class above theirs: callers contribute once, whichever methods they may run.
        # What code outside the project passes, such as tests, is apart.
        self.virtual_places: Cells[tuple[Virtual, bool], frozenset[Place]] = Cells(
            "virtual places", frozenset()
        )
        self.virtual_arguments: Cells[tuple[Virtual, bool, Place], AbstractValue] = Cells(
            "virtual arguments", BOTTOM
        )
        self.virtual_returns: Cells[Virtual, AbstractValue] = Cells("virtual returns", BOTTOM)
        self.virtual_handed: Cells[Virtual, frozenset[Named]] = Cells("virtual handed", frozenset())
        self.virtual_placing: Cells[Virtual, frozenset[Named]] = Cells("virtual placing", frozenset())

        self.callees: dict[Function, dict[Function | Virtual, Called]] = {}
        self.elsewhere: dict[Function, dict[Function, None]] = {}  # called in branches for other hardware
        self.may_block: set[Function] = set()  # in which a GPU value reaches a place that may block
        self.asked = Askers()

    def asks(self, asker: Function, question: Question) -> None:
        """Record that a function looked up a name, for invalidation."""
        askers = self.asked[question]
        if asker in askers:
            return
        if isinstance(askers, set):
            askers.add(asker)
        elif len(askers) < _FEW:
            self.asked[question] = (*askers, asker)
        else:
            self.asked[question] = {*askers, asker}

    def run_by(self, function: Function) -> list[Function | Virtual]:
        """Return the callees of a function that are part of its run."""
        callees = self.callees.get(function, {})
        return [callee for callee, how in callees.items() if Called.LATER not in how]

    def cells(self) -> list[Cells[Any, Any]]:
        """Return the cells of every sort."""
        return [getattr(self, name) for name in _SORTS]

    @property
    def default_device(self) -> Cell[AbstractValue]:
        """The cell of the device that `with torch.device(...)` sets for constructors; empty if that is the CPU."""
        return self.defaults["device"]

    @property
    def default_group(self) -> Cell[AbstractValue]:
        """The cell of the default process group of collectives."""
        return self.defaults["group"]

    @property
    def default_checks(self) -> Cell[AbstractValue]:
        """The cell of the project's default for the `validate_args` of distributions; empty if that is torch's own."""
        return self.defaults["validate_args"]
