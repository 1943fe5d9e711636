"""A call during evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.domain.basic import element_of
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Slot
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.model import Kind
from syncscan.ops import Operation

Values = Sequence[AbstractValue]


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


def with_arguments(values: Values, slots: Sequence[int], site: CallSite) -> Call:
    """Return the call with its arguments in order."""
    count, keywords = site.positional, site.keywords
    if site.starred or None in keywords:
        return _spread(values, slots, site)
    if not keywords:
        return Call(values[:count], _NO_KEYWORDS, site, slots[:count])
    kwargs: Any = dict(
        zip(keywords, values[count:], strict=False)
    )  # behind which the default device may stand
    return Call(values[:count], kwargs, site, slots[: count + len(keywords)])


_NO_KEYWORDS: dict[str, AbstractValue] = {}


def _spread(values: Values, slots: Sequence[int], site: CallSite) -> Call:
    """Return a call with ``*args`` or ``**kwargs``; known items become separate arguments."""
    args: list[AbstractValue] = []
    of_args: list[int] = []
    is_open = False
    for place in range(site.positional):
        value = values[place]
        if place in site.starred:
            items = value.items if value.kind is not Kind.UNION else None
            is_open = items is None
            args += items if items is not None else [element_of(value)]
            of_args += [-1] * (len(args) - len(of_args))
        else:
            is_open = False
            args.append(value)
            of_args.append(slots[place])
    kwargs: dict[str, AbstractValue] = {}
    of_kwargs: dict[str, int] = {}
    any_keyword = BOTTOM
    for place, name in enumerate(site.keywords, site.positional):
        value = values[place]
        if name is not None:
            kwargs[name] = value
            of_kwargs[name] = slots[place]
        elif value.kind is Kind.DICT and isinstance(value.payload, tuple) and value.items is not None:
            for key, item in zip(value.payload, value.items, strict=True):
                if isinstance(key, str):
                    kwargs[key] = item
                else:
                    any_keyword = join(any_keyword, item)
        elif value.kind is Kind.DICT:
            any_keyword = join(any_keyword, element_of(value))
    of_values = (*of_args, *(of_kwargs.get(name, -1) for name in kwargs))
    return Call(args, kwargs, site, of_values, is_open, any_keyword)
