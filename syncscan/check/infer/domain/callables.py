"""Payloads of abstract values of kind FUNCTION beside plain functions of the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from syncscan.check.infer.domain.value import AbstractValue
from syncscan.model import Kind


class Defined(Protocol):
    """A definition of the project: a function, a class, a module."""

    @property
    def key(self) -> str:
        """A text that identifies the definition, the same in every run."""


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method with its receiver."""

    function: Defined
    receiver: AbstractValue

    @property
    def key(self) -> str:
        """See `Defined.key`."""
        return f"{self.function.key} of {key_of(self.receiver)}"

    @property
    def inside(self) -> tuple[AbstractValue, ...]:
        """The values that the callable holds."""
        return (self.receiver,)


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial``: a callable with some of its arguments."""

    callee: AbstractValue
    args: tuple[AbstractValue, ...]
    kwargs: tuple[tuple[str, AbstractValue], ...]

    @property
    def key(self) -> str:
        """A text from the callee and the form of its arguments, without their values; see `Defined.key`."""
        names = ",".join(name for name, _ in self.kwargs)
        return f"{key_of(self.callee)}({len(self.args)},{names})"

    @property
    def inside(self) -> tuple[AbstractValue, ...]:
        """The values that the callable holds."""
        return (self.callee, *self.args, *(value for _, value in self.kwargs))


def key_of(value: AbstractValue) -> str:
    """Return the text that keeps a value apart from others of its kind in a union; "" for most kinds."""
    if value.kind is Kind.UNION and value.items is not None:
        return "|".join(dict.fromkeys(map(key_of, value.items)))
    payload = value.payload
    return payload if isinstance(payload, str) else getattr(payload, "key", "")
