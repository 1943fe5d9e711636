"""What one evaluation of a function read, and what it yields; nothing is known by it until it is committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.known.cells import Cell
from syncscan.check.infer.known.trails import Evaluation
from syncscan.check.infer.source.index import Function, Virtual


@dataclass(slots=True)
class Outcome:
    """All that an evaluation has to do with the rest of the project."""

    reads: dict[Cell[Any], None] = field(default_factory=dict)
    contributions: dict[Cell[Any], Any] = field(default_factory=dict)  # where they tell more than before
    callees: dict[Function | Virtual, Called] = field(default_factory=dict)
    elsewhere: dict[Function, None] = field(default_factory=dict)  # called in branches for other hardware
    lambdas: dict[Function, None] = field(default_factory=dict)  # met in it
    is_open: bool = False  # asks something that only an assumption answers
    may_block: bool = False  # a GPU value reaches a place that may block
    error: Exception | None = None  # which ended it

    def in_turn(self, turn: int) -> Evaluation:
        """What is kept of it."""
        return Evaluation(
            turn,
            tuple(self.reads),
            tuple(self.contributions),
            tuple(self.callees.items()),
            tuple(self.elsewhere),
            tuple(self.lambdas),
            self.is_open,
            self.may_block,
            self.error,
        )
