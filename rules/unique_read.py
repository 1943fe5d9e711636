"""`unique` returns as many elements as there are distinct values, and that number blocks the CPU.

**Stays silent** on tensors in host memory and on NumPy's `unique`.

**No rewrite.** For the number, or a marker per element: `torch.sort`, then compare
neighbours. The result keeps the shape and stays on the GPU. If the values came from the host, find
the distinct ones there.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule
from syncscan.syntax.use import Role, use_of

from ._parts import line_of
from ._shared import as_operand, blocking_call, given, gpu_operand, shown, subject
from ._suggestions import suggest


class UniqueRead(Rule):
    code = "SYN204"
    name = "unique-read"
    summary = "`unique` or `unique_consecutive` on the GPU"
    instead = "compute the distinct values on the host, or sort on the GPU and mark the changes"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

ids = torch.zeros(8, dtype=torch.int64, device="cuda")
experts = torch.unique(ids)  # expect: SYN204
runs, lengths = ids.unique_consecutive(return_counts=True)  # expect: SYN204
"""
        ),
        Example(
            good="""\
import numpy as np
import torch

ids = torch.zeros(8, dtype=torch.int64, device="cuda")
ordered = torch.sort(ids).values
first = ordered[1:] != ordered[:-1]
host = torch.unique(torch.zeros(8))
array = np.unique(np.zeros(8))
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SHAPE, {"unique", "unique_consecutive", "unique_dim"})
        if call is None:
            return None
        message = f"{shown(call, facts)} blocks the CPU until the GPU has counted the distinct values"
        return Match(call, message, gpu_operand(call, facts), _hint(call, facts), is_implicit=True)


def _hint(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for the number of distinct values; "" for the values themselves."""
    tensor = subject(call, facts)
    if tensor is call or not line_of(tensor, facts):
        return ""
    around = facts.parent(call)
    is_len = isinstance(around, ast.Call) and facts.name_of(around.func) == "builtins.len"
    is_size = isinstance(around, ast.Attribute) and around.attr in {"shape", "size", "numel"}
    counted = around if is_len and around is not None else call
    is_tested = use_of(counted, facts.around(call)).role is Role.TEST  # by Python, which needs the number
    is_count = (is_len or is_size) and not is_tested and len(given(call)) == (tensor in given(call))
    return suggest("distinct-count", tensor=as_operand(tensor, facts)) if is_count else ""
