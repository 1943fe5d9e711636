"""Cells: what is known, told by those who write it, for those who read it.

Writers and readers are functions of the project. Each writer has one contribution to a cell, and the
value of the cell is the join of them, so that a contribution can be taken back. While the inference runs
contributions only grow; what a function has once told stays until it is withdrawn.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import Generic, TypeVar

from syncscan.check.infer.source.index import Class, Function, Module, Parameter, Virtual
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Value

# A place of an argument: its number, or its name where it is passed by that; and a parameter's name with its place.
Slot = int | str
Named = tuple[str, Slot]
Fact = TypeVar("Fact", Value, frozenset[Class], frozenset[str], frozenset[Slot], frozenset[Named])
Key = TypeVar("Key")


class Called(Flag):
    """How a function calls another one, as far as the waits in that are concerned."""

    WITHOUT_GPU = 0  # it passes nothing on the GPU
    WITH_GPU = auto()
    ALLOWED = auto()  # inside of a context that allows waits


class Cell(Generic[Fact]):
    """One thing that is known: the join of what its writers contribute, and the functions that have read it."""

    __slots__ = ("contributions", "readers", "value")

    def __init__(self, nothing: Fact) -> None:
        self.value: Fact = nothing
        self.contributions: dict[Function, Fact] = {}
        self.readers: dict[Function, None] = {}  # a set with an order, so that every run goes the same way

    def contribute(self, writer: Function, fact: Fact) -> bool:
        """Add to what a writer says; True if more is known by that."""
        own = joined(self.contributions.get(writer), fact)
        if own is None:
            return False
        self.contributions[writer] = own
        whole = joined(self.value, own)
        if whole is None:
            return False
        self.value = whole
        return True


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
    """The cells of one sort, made as they are asked for."""

    def __init__(self, nothing: Fact) -> None:
        self._nothing: Fact = nothing

    def __missing__(self, key: Key) -> Cell[Fact]:
        cell = self[key] = Cell(self._nothing)
        return cell


class Knowledge:
    """What is known of a project: every cell, and what the evaluations said besides."""

    def __init__(self) -> None:
        self.parameters: Cells[Parameter, Value] = Cells(UNKNOWN)
        self.returns: Cells[Function, Value] = Cells(UNKNOWN)
        self.attributes: Cells[tuple[Class, str], Value] = Cells(UNKNOWN)
        self.globals: Cells[tuple[Module, str], Value] = Cells(UNKNOWN)
        self.captured: Cells[tuple[Function, str], Value] = Cells(UNKNOWN)  # by functions in a function
        # The classes on whose objects an attribute of this name is set, by code that is not their own.
        self.set_outside: Cells[str, frozenset[Class]] = Cells(frozenset())
        # The parameters that put a result of a function on the GPU; "" where something else does.
        self.placing: Cells[Function, frozenset[str]] = Cells(frozenset())
        # Where `with torch.device(...)` puts what is made in it, modules among it; nowhere if that is the CPU.
        self.default_device: Cell[Value] = Cell(UNKNOWN)
        # The process group that collectives without one are for; nothing where programs make it in several ways.
        self.default_group: Cell[Value] = Cell(UNKNOWN)
        self.virtual = VirtualKnowledge()

        self.callees: dict[Function, dict[Function | Virtual, Called]] = {}
        self.elsewhere: dict[Function, None] = {}  # called in branches for other hardware
        self.open: set[Function] = set()  # that ask something which only an assumption answers
        self.may_block: set[Function] = set()  # in which a GPU value reaches a place that may block


class VirtualKnowledge:
    """What is known of methods as they are called through a class above theirs.

    Callers tell it once, whichever methods they may run, and each of those reads it once. What code outside the
    project passes, such as tests, is kept apart.
    """

    def __init__(self) -> None:
        self.slots: Cells[tuple[Virtual, bool], frozenset[Slot]] = Cells(frozenset())  # that callers fill
        self.arguments: Cells[tuple[Virtual, bool, Slot], Value] = Cells(UNKNOWN)
        self.returns: Cells[Virtual, Value] = Cells(UNKNOWN)
        # The parameters that put a result on the GPU, as in `Knowledge.placing`.
        self.placing: Cells[Virtual, frozenset[Named]] = Cells(frozenset())
