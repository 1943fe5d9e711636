"""Some operations size their result, or choose their work, from values on the GPU, and read these values, which blocks the CPU.

`bincount` and `histc` read the largest value, even with `minlength` or a range given. `one_hot` without
`num_classes` reads it too. `combinations` builds a mask and selects by it. Sparse conversion and
`coalesce` count the non-zero elements. `index_put` counts the elements of a mask. `segment_reduce` checks its lengths. `isin` falls back to sorting
for many values, and then blocks as `unique` does.

**Stays silent** on

- `one_hot(t, num_classes)`, `topk`, `sort`, `cumsum`, `multinomial` and `randperm`, which know their size;
- `isin` with a single number, or with values that nothing shows to be many;
- tensors in host memory.

**No rewrite.** `torch.zeros(bins, device=...).scatter_add_(0, ids, ones)` counts into a known number of
bins; `num_classes` is nearly always known; `(a[:, None] == b).any(1)` stands for a small `isin`.
"""

import ast
import re

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Precedence, Rule

from ._shared import blocking_call, gpu_operand, plain_name, shown
from ._suggestions import suggest

_REASONS = {
    "bincount": "the largest value sizes the result",
    "histc": "the host reads the range to place the bins",
    "index_put": "the host counts the true elements of the mask",
    "isin": "for many test elements the operation sorts, and counts the distinct values",
    "one_hot": "the largest value sizes the result",
    "segment_reduce": "the host checks the lengths",
}
_SUGGESTED = {"bincount", "index_put", "one_hot", "isin", "coalesce", "nms", "to_sparse"}
_SPARSE = re.compile(r"to_sparse(_(coo|csr|csc|bsr|bsc))?")


class DataSizedResult(Rule):
    code = "SYN206"
    name = "data-sized-result"
    summary = "an operation sizes its result from data on the GPU"
    instead = "pass the size, if the operation takes one (`num_classes`, a number of bins, an upper bound); else call the operation outside of the step"
    nodes = (ast.Call,)
    precedence = Precedence.FAMILY
    examples = (
        Example(
            bad="""\
import torch

ids = torch.zeros(1024, dtype=torch.int64, device="cuda")
counts = torch.bincount(ids, minlength=8)  # expect: SYN206
spread = torch.histc(ids.float(), 10)  # expect: SYN206
pairs = torch.combinations(ids[:10])  # expect: SYN206
"""
        ),
        Example(
            bad="""\
import torch
import torch.nn.functional as F

ids = torch.zeros(1024, dtype=torch.int64, device="cuda")
classes = F.one_hot(ids)  # expect: SYN206
sparse = ids.to_sparse()  # expect: SYN206
"""
        ),
        Example(
            good="""\
import torch
import torch.nn.functional as F

ids = torch.zeros(1024, dtype=torch.int64, device="cuda")
classes = F.one_hot(ids, 8)
counts = torch.zeros(8, dtype=torch.int64, device="cuda").scatter_add_(0, ids, torch.ones_like(ids))
best = torch.topk(ids.float(), 4)
drawn = torch.multinomial(torch.rand(1024, device="cuda"), 5)
running = torch.cumsum(ids, 0)
"""
        ),
        Example(
            good="""\
import torch

counts = torch.bincount(torch.zeros(8, dtype=torch.int64))
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SHAPE)
        if call is None:
            return None
        name = plain_name(call, facts).rstrip("_")  # also in place
        why = _REASONS.get(name, "the size of the result depends on the data")
        message = f"{shown(call, facts)} blocks the CPU: {why}"
        row = "to_sparse" if _SPARSE.fullmatch(name) else name
        hint = suggest(row) if row in _SUGGESTED else ""
        return Match(call, message, because=gpu_operand(call, facts), hint=hint, is_implicit=True)
