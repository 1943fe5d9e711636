"""`nonzero`, `argwhere` and `where` of one argument return as many rows as there are non-zero elements.

That number sizes the result, so the CPU is blocked until the GPU has counted.

**Stays silent** on `torch.where(condition, a, b)`, whose shape is that of its operands, on
`torch.nonzero_static(t, size=n)`, whose shape the caller gives, and on tensors in host memory.

**No rewrite.** With a known upper bound, `torch.nonzero_static(t, size=bound)` pads to it. If the
positions only serve to read or write elements, `torch.where` and `masked_fill` do without them. A
stable `argsort` of the mask puts the true positions first, in order, without counting them.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._held import of_copied_indices
from ._loop_reads import of_groups
from ._shared import blocking_call, gpu_operand, shown


class NonzeroRead(Rule):
    code = "SYN202"
    name = "nonzero-read"
    summary = "`nonzero`, `argwhere` or one-argument `where` on the GPU"
    instead = "use `torch.where(condition, a, b)`, or `torch.nonzero_static` with an upper bound"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

mask = torch.zeros(8, dtype=torch.bool, device="cuda")
rows = mask.nonzero()  # expect: SYN202
also = torch.where(mask)[0]  # expect: SYN202
pairs = torch.argwhere(mask)  # expect: SYN202
"""
        ),
        Example(
            bad="""\
import torch


def accepted(tokens: torch.Tensor) -> torch.Tensor:
    return (tokens >= 0).nonzero(as_tuple=True)[0]  # expect: SYN202


accepted(torch.zeros(8, device="cuda"))
"""
        ),
        Example(
            good="""\
import torch

mask = torch.zeros(8, dtype=torch.bool, device="cuda")
rows = torch.nonzero_static(mask, size=8)
values = torch.where(mask, 1.0, 0.0)
order = torch.argsort(mask, descending=True, stable=True)
host = torch.zeros(8).nonzero()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SHAPE, {"nonzero", "argwhere", "where"})
        if call is None:
            return None
        message = f"{shown(call, facts)} blocks the CPU until the GPU has counted the non-zero elements"
        hint = of_groups(facts.argument(call, "input") or facts.argument(call, "condition"), call, facts)
        hint = hint or of_copied_indices(call, facts)
        return Match(call, message, gpu_operand(call, facts), hint, is_implicit=True)
