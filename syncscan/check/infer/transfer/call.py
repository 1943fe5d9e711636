"""A call during evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Slot
from syncscan.check.infer.source.index import Parameter
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.ops import Operation


class Call(NamedTuple):
    """The arguments of a call; ``site`` is its form in the source, or None for an implicit call.

    ``slots`` has the slots of the arguments in the order of `values`, with -1 for arguments without a slot;
    empty if unknown. ``is_open_ended`` says that the last positional argument stands for any number of
    arguments, as ``*args`` does. ``any_keyword`` is the value of the keywords in ``**kwargs`` whose names are unknown.
    """

    args: Sequence[AbstractValue]
    kwargs: Mapping[str, AbstractValue]
    site: CallSite | None = None
    slots: Sequence[Slot] = ()
    is_open_ended: bool = False
    any_keyword: AbstractValue = BOTTOM

    @property
    def first(self) -> AbstractValue:
        """The first positional argument, or BOTTOM."""
        return self.args[0] if self.args else BOTTOM

    @property
    def values(self) -> list[AbstractValue]:
        """All arguments."""
        return [*self.args, *self.kwargs.values()]

    def given(self, position: int, name: str) -> AbstractValue:
        """Return the argument at a position or under a name, or BOTTOM."""
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, BOTTOM)

    def on(self, receiver: AbstractValue) -> Call:
        """Return the call with the receiver of a method as first argument."""
        slots = (-1, *self.slots) if self.slots else ()
        return Call(
            (receiver, *self.args), self.kwargs, self.site, slots, self.is_open_ended, self.any_keyword
        )

    def slot_of(self, place: int | str) -> Slot:
        """Return the slot of the argument at a position or under a name, or -1."""
        places = [*range(len(self.args)), *self.kwargs]
        return self.slots[places.index(place)] if self.slots and place in places else -1

    def rest_of(self, plain: Sequence[Parameter]) -> Sequence[Parameter]:
        """Return the parameters that only an open-ended argument can fill; parameters with defaults are not among them."""
        if not self.is_open_ended:
            return ()
        open_ones = plain[len(self.args) :]
        return [each for each in open_ones if each.default is None and each.name not in self.kwargs]

    def bound(self, operation: Operation) -> Bound:
        """Return the arguments by the parameters of an entry of the operation table."""
        return Bound.of(operation, self.args, self.kwargs)
