"""Indexing with a boolean GPU mask has to count the mask first, and the count blocks the CPU.

The shape of `x[mask]` is a number that only the GPU knows; torch finds it with `nonzero`. An assignment
`x[mask] = values` does the same when the values are a tensor, even of no dimensions.

**Stays silent** on

- `x[mask] = 0.0`, which is a `masked_fill_` and does not count;
- a mask in host memory, which is counted there and uploaded without blocking;
- an index tensor of integers.

**No rewrite**, since the result has another shape. `torch.where(mask, a, b)` keeps the shape.
`x.index_select(0, rows)` with rows that the host computed once replaces a mask that is used often.
With a CPU copy of the mask the read does not block. Sums over a mask are `(x * mask).sum()`.
"""

import ast
from dataclasses import replace

from syncscan.model import Confidence, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import index_elements, index_parts, shown
from ._suggestions import suggest


class MaskIndex(Rule):
    code = "SYN201"
    name = "mask-index"
    summary = "indexing with a boolean mask on the GPU"
    instead = "use `torch.where`, `index_select` with rows that the host knows, or a mask in host memory"
    nodes = (ast.Subscript,)
    examples = (
        Example(
            bad="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8, device="cuda") > 0.5
kept = rows[mask]  # expect: SYN201
others = rows[~mask]  # expect: SYN201
"""
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
mask = torch.zeros(8, dtype=torch.bool, device="cuda")
head = table[mask, :2]  # expect: SYN201
rows = torch.zeros(8, device="cuda")
rows[mask] = rows.sum()  # expect: SYN201
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8, device="cuda") > 0.5
rows[mask] = 0.0
kept = torch.where(mask, rows, 0.0)
picked = rows[torch.arange(4, device="cuda")]
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8) > 0.5
kept = rows[mask]
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if not isinstance(node, ast.Subscript):
            return None
        case = facts.blocks(node)
        if case is None or case.effect is not Effect.SHAPE:
            return None
        masks = [element for element in index_elements(node) if facts.of(element).is_mask]
        mask = masks[0] if masks else node
        how = f"Indexing with the CUDA mask {shown(mask, facts)}" if masks else shown(node, facts)
        message = f"{how} blocks the CPU until the true elements are counted"
        because = _beside(facts.of(mask), facts.of(node.value))
        return Match(node, message, because, _hint(node, mask, facts))


def _beside(mask: Value, indexed: Value) -> Value:
    """Return the mask; where the mask is only assumed on the GPU, return the indexed tensor if that is surer."""
    if mask.confidence is Confidence.ASSUMED and indexed.is_gpu and indexed.confidence is not mask.confidence:
        return replace(indexed, confidence=Confidence.INFERRED)
    return mask


_SUMS = {"sum", "mean"}


def _hint(node: ast.Subscript, mask: ast.AST, facts: Facts) -> str:
    """Return the suggestion for the store or the sum around the index; "" where only the general one fits."""
    dims = {facts.of(node.value).ndim, facts.of(mask).ndim} - {None}
    tensor, picked = facts.source(node.value), facts.source(mask)
    if mask is node:
        return ""
    if len(index_parts(node)) != 1 or len(dims) > 1:
        return suggest("masked-part", mask=picked) if isinstance(node.ctx, ast.Load) else ""
    around = facts.parent(node)
    if isinstance(around, ast.Attribute) and around.attr in _SUMS:
        return suggest("masked-sum", tensor=tensor, mask=picked)
    return _of_a_store(node, facts.statement(node), picked, facts) or suggest(
        "masked-rows", tensor=tensor, mask=picked
    )


def _of_a_store(node: ast.Subscript, statement: ast.AST, mask: str, facts: Facts) -> str:
    """Return the suggestion for a store through a mask, or for what such a store reads through the mask; "" for others."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Subscript):
        return ""
    stored, value = facts.source(target.value), statement.value
    is_picked = isinstance(value, ast.Subscript) and facts.source(value.slice) == mask
    if is_picked and isinstance(value, ast.Subscript) and facts.source(target.slice) == mask:
        return suggest("masked-where", tensor=stored, mask=mask, value=facts.source(value.value))
    if node is not target:
        return ""
    row = "masked-fill" if facts.of(value).ndim == 0 else "masked-scatter"
    return suggest(row, tensor=stored, mask=mask, value=facts.source(value))
