"""What a value of kind FUNCTION may be, besides a function of the project."""

from __future__ import annotations

from dataclasses import dataclass

from syncscan.check.infer.source.index import Function
from syncscan.model import Value


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method and the object it was read from."""

    function: Function
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial``: a callable and the arguments that it has got already."""

    callee: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]
