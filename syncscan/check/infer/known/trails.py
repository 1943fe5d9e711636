"""Trails: the evaluations of a function, in order, and what they said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.known.cells import Cell
from syncscan.check.infer.source.index import Function, Virtual


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of a function: in which turn, what it read, and what it yielded."""

    turn: int
    reads: tuple[Cell[Any], ...]
    told: tuple[Cell[Any], ...]  # whose histories have what
    callees: tuple[tuple[Function | Virtual, Called], ...]
    elsewhere: tuple[Function, ...]
    lambdas: tuple[Function, ...]
    is_open: bool
    may_block: bool
    error: Exception | None


Trail = list[Evaluation]


class Trails(dict[Function, Trail]):
    """The trail of each function; ``recall`` gives that of an earlier run, once."""

    def __init__(self) -> None:
        self.recall: Callable[[Function], Trail] | None = None

    def __missing__(self, function: Function) -> Trail:
        trail = self[function] = [] if self.recall is None else self.recall(function)
        return trail
