"""The state of one function: the values of its slots, and its instructions on the worklist."""

from __future__ import annotations

from typing import Any

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import FunctionIR, Slot
from syncscan.check.infer.source.index import Function, Virtual


class State:
    """The values, pending instructions, and cells of one function."""

    __slots__ = (
        "base",
        "blocking",
        "callees",
        "due",
        "elsewhere",
        "fill",
        "function",
        "ir",
        "is_queued",
        "is_replayed",
        "open",
        "reads",
        "size",
        "told",
        "uses",
        "values",
    )  # fmt: skip

    def __init__(self, function: Function, ir: FunctionIR, base: int) -> None:
        self.function = function
        self.ir = ir
        self.base = base  # the number of its first instruction in the whole project
        self.size = len(ir)
        self.uses = ir.uses()
        self.is_replayed = False  # while only some functions are solved
        self.is_queued = False
        self.told: list[Cell[Any]] = []  # to which it contributes
        self.reads: list[Cell[Any]] = []
        self.reset()

    def reset(self) -> None:
        """Clear the state to that before the first run of the function."""
        self.values: list[AbstractValue] = [BOTTOM] * self.size
        self.due: set[Slot] | range | None = None  # the instructions to run
        self.callees: dict[Function | Virtual, Called] = {}
        self.elsewhere: dict[Function, None] = {}  # called in branches for other hardware
        self.blocking: dict[Slot, None] = {}  # the instructions that may block
        self.open: dict[Slot, int] = {}  # the stratum that answers what an instruction asks
