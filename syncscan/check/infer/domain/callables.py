"""Payloads of abstract values of kind FUNCTION, besides a function of the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from syncscan.check.infer.domain.value import AbstractValue
from syncscan.model import Kind


class Defined(Protocol):
    """Something that the project defines: a function, a class, a module."""

    @property
    def key(self) -> str:
        """Return a text that tells it apart from all others, the same in every run."""


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method and the object it was read from."""

    function: Defined
    receiver: AbstractValue

    @property
    def key(self) -> str:
        """See `Defined.key`."""
        return f"{self.function.key} of {key_of(self.receiver)}"

    @property
    def inside(self) -> tuple[AbstractValue, ...]:
        """Return the values that it holds."""
        return (self.receiver,)


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial``: a callable and the arguments that it has got already."""

    callee: AbstractValue
    args: tuple[AbstractValue, ...]
    kwargs: tuple[tuple[str, AbstractValue], ...]

    @property
    def key(self) -> str:
        """See `Defined.key`: which arguments there are, whatever they are."""
        names = ",".join(name for name, _ in self.kwargs)
        return f"{key_of(self.callee)}({len(self.args)},{names})"

    @property
    def inside(self) -> tuple[AbstractValue, ...]:
        """Return the values that it holds."""
        return (self.callee, *self.args, *(value for _, value in self.kwargs))


def key_of(value: AbstractValue) -> str:
    """Return what tells a value apart from others of its kind that stay beside it in a union; "" for most kinds."""
    if value.kind is Kind.UNION and value.items is not None:
        return "|".join(dict.fromkeys(map(key_of, value.items)))
    payload = value.payload
    return payload if isinstance(payload, str) else getattr(payload, "key", "")
