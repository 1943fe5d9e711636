"""The number of dimensions of a result, as the operation table states it.

    ndim   = N | OF [("+" | "-") N] | "size" | "varies"
    OF     = "operands" | "first" | "second"

``"operands"`` is the largest number among the tensors that are operands, as broadcasting gives it. ``"first-1"`` is one
fewer than that of the first tensor. ``"size"`` is one for each number of the parameter ``size``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

VARIES = "varies"
SIZE = "size"
OPERANDS = "operands"
_SECOND = "second"
_DECIDING = {OPERANDS: slice(None), "first": slice(0, 1), _SECOND: slice(1, 2)}  # of the tensors
_RELATIVE = re.compile(rf"({'|'.join(_DECIDING)})([+-][1-9])?")
Operand = TypeVar("Operand")
STATEMENT = re.compile(rf"{VARIES}|{SIZE}|{_RELATIVE.pattern}")


class Relative(NamedTuple):
    """As many dimensions as the most of some operands, and ``more``."""

    of: str
    more: int

    def decisive(self, operands: list[Operand]) -> list[Operand]:
        """Return the operands that decide."""
        return operands[_DECIDING[self.of]]


def is_valid(said: object) -> bool:
    """Return whether a table may say this of a result."""
    if isinstance(said, str):
        return STATEMENT.fullmatch(said) is not None
    return isinstance(said, int) and not isinstance(said, bool) and said >= 0


def relative(said: int | str) -> Relative | None:
    """Return the operands that decide, and the difference; None for a fixed number or one that they do not decide."""
    found = _RELATIVE.fullmatch(said) if isinstance(said, str) else None
    return None if found is None else Relative(found[1], int(found[2] or 0))


class Shapes(NamedTuple):
    """The dimensions of one call: those of its results, of its operands, and the length of its ``size``, if it has one."""

    results: Sequence[int]
    operands: Sequence[int]
    size: int | None = None


def learn(calls: Sequence[Shapes]) -> int | str:
    """Return what the table says of calls that were made: the first statement that holds for all of them.

    Operands of one number of dimensions do not tell a fixed number from a difference, and nothing is then said.
    """
    results = {ndim for call in calls for ndim in call.results}
    if not results or any(len(set(call.results)) != 1 for call in calls):
        return VARIES
    decided = next((said for of in _DECIDING if (said := _decided_by(of, calls)) is not None), None)
    if decided is not None:
        return decided
    if all(call.results[0] == call.size for call in calls):
        return SIZE
    is_fixed = len(results) == 1 and len({max(call.operands) for call in calls if call.operands}) > 1
    return results.pop() if is_fixed else VARIES


def _decided_by(of: str, calls: Sequence[Shapes]) -> str | None:
    """Return how many dimensions more than these operands the results have; None where calls differ, or do not tell."""
    with_operands = [call for call in calls if call.operands[_DECIDING[of]]]
    bases = [max(call.operands[_DECIDING[of]]) for call in with_operands]
    more = {call.results[0] - base for call, base in zip(with_operands, bases, strict=True)}
    is_whole = len(bases) == len(calls)
    if len(more) != 1 or not (is_whole or of == _SECOND):
        return None
    if len(set(bases)) == 1 and not (is_whole and more == {0}):
        return None
    return of if more == {0} else f"{of}{more.pop():+d}"
