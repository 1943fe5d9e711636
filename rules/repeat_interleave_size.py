"""`repeat_interleave` with repeats on the GPU adds up the repeats to size its result, and reading the sum blocks the CPU.

**Stays silent** where `output_size=` is given, and where the repeats are a number: `torch.repeat_interleave(x,
2)` does not block.

**No rewrite**, since only the author knows the total: it is often the length of another tensor
(`output_size=tokens.shape[0]`) or a sum that the scheduler has on the host. A wrong `output_size` is
not checked on the GPU.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import blocking_call, gpu_operand, shown


class RepeatInterleaveSize(Rule):
    code = "SYN205"
    name = "repeat-interleave-size"
    summary = "`repeat_interleave` with GPU repeats and no `output_size`"
    instead = "pass `output_size=`: the host often knows the total"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

rows = torch.arange(4, device="cuda")
lens = torch.ones(4, dtype=torch.int64, device="cuda")
flat = torch.repeat_interleave(rows, lens)  # expect: SYN205
also = rows.repeat_interleave(lens, dim=0)  # expect: SYN205
ids = torch.repeat_interleave(lens)  # expect: SYN205
"""
        ),
        Example(
            good="""\
import torch

rows = torch.arange(4, device="cuda")
lens = torch.ones(4, dtype=torch.int64, device="cuda")
flat = torch.repeat_interleave(rows, lens, output_size=4)
twice = torch.repeat_interleave(rows, 2)
host = torch.repeat_interleave(torch.arange(4), torch.ones(4, dtype=torch.int64))
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SHAPE, {"repeat_interleave"})
        if call is None:
            return None
        message = f"{shown(call, facts)} blocks the CPU until the GPU has added up the repeats"
        return Match(call, message, because=gpu_operand(call, facts), is_implicit=True)
