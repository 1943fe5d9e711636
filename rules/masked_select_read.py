"""`masked_select` returns as many elements as its mask has true ones, and that number blocks the CPU.

It is `x[mask]` (SYN201) by another name.

**Stays silent** on `masked_fill` and `masked_scatter`, whose shape is that of the input, and on tensors in
host memory.

**No rewrite**, since the result has another shape: `torch.where(mask, x, other)` keeps it, and a
reduction can be weighted by the mask.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import blocking_call, gpu_operand, shown


class MaskedSelectRead(Rule):
    code = "SYN203"
    name = "masked-select-read"
    summary = "`masked_select` on the GPU"
    instead = "use `torch.where(mask, x, other)`, or `index_select` with rows that the host knows"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

rows = torch.zeros(8, device="cuda")
kept = torch.masked_select(rows, rows > 0)  # expect: SYN203
also = rows.masked_select(rows > 0)  # expect: SYN203
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = rows > 0
filled = rows.masked_fill(mask, 0.0)
moved = rows.masked_scatter(mask, rows)
kept = torch.where(mask, rows, 0.0)
host = torch.zeros(8).masked_select(torch.ones(8) > 0)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SHAPE, {"masked_select"})
        if call is None:
            return None
        message = f"{shown(call, facts)} blocks the CPU until the GPU has counted the selected elements"
        return Match(call, message, gpu_operand(call, facts), is_implicit=True)
