"""A call as it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Slot
from syncscan.check.infer.source.index import Parameter
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.ops import Operation


class Call(NamedTuple):
    """The arguments of a call; ``site`` is how it is written, None where the source has no call there.

    ``slots`` has those of the arguments in the order of `values`, -1 where one is no slot of its own; none where that is not
    known. ``is_open_ended`` says that the last positional argument stands for any number of them, as ``*args`` does.
    """

    args: Sequence[AbstractValue]
    kwargs: Mapping[str, AbstractValue]
    site: CallSite | None = None
    slots: Sequence[Slot] = ()
    is_open_ended: bool = False

    @property
    def first(self) -> AbstractValue:
        """Return the first positional argument, if any."""
        return self.args[0] if self.args else BOTTOM

    @property
    def values(self) -> list[AbstractValue]:
        """Return every argument."""
        return [*self.args, *self.kwargs.values()]

    def given(self, position: int, name: str) -> AbstractValue:
        """Return the argument in a place or of a name."""
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, BOTTOM)

    def on(self, receiver: AbstractValue) -> Call:
        """Return the same call of a method, with its object in front."""
        slots = (-1, *self.slots) if self.slots else ()
        return Call((receiver, *self.args), self.kwargs, self.site, slots, self.is_open_ended)

    def slot_of(self, place: int | str) -> Slot:
        """Return the slot of the argument in a place or of a name; -1 where it is none of its own."""
        places = [*range(len(self.args)), *self.kwargs]
        return self.slots[places.index(place)] if self.slots and place in places else -1

    def rest_of(self, plain: Sequence[Parameter]) -> Sequence[Parameter]:
        """Return those of some parameters that only an open end fills: what has a default is left to that."""
        if not self.is_open_ended:
            return ()
        open_ones = plain[len(self.args) :]
        return [each for each in open_ones if each.default is None and each.name not in self.kwargs]

    def bound(self, operation: Operation) -> Bound:
        """Return the arguments by the parameters of an entry of the operation table."""
        return Bound.of(operation, self.args, self.kwargs)
