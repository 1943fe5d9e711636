"""`.tolist()` on a GPU tensor copies all elements to the host, and blocks the CPU until the copy has finished.

`.tolist()` costs as much as `.item()`, and a Python list besides. In a loop (`for n in t[:, 0].tolist()`)
each call synchronizes once.

**Stays silent** on CPU tensors, and on `t.cpu().tolist()`: there the copy blocks (SYN105).

**No rewrite.** If several lists come from one tensor, copy the tensor once and slice the copy. If the tensor was
built from a list, keep the list. `torch.split` takes host sizes: pass those, not a tensor read back.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._instead import of_many
from ._shared import blocking_call, shown, subject


class ListRead(Rule):
    code = "SYN102"
    name = "list-read"
    summary = "`.tolist()` reads a whole tensor from the GPU"
    instead = (
        "copy with `non_blocking=True` and read later, or use the list from which the host created the tensor"
    )
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

lens = torch.ones(4, dtype=torch.int64, device="cuda")
rows = torch.zeros(4, device="cuda")
parts = torch.split(rows, lens.tolist())  # expect: SYN102
"""
        ),
        Example(
            bad="""\
import torch


class Router:
    def __init__(self) -> None:
        self.counts = torch.zeros((2, 8), device="cuda")

    def groups(self) -> list:
        return self.counts[0].tolist()  # expect: SYN102


Router().groups()
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(4, device="cuda")
parts = torch.split(rows, [1, 3])
lens = torch.ones(4).tolist()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.DOWNLOAD, {"torch.Tensor.tolist"})
        if call is None:
            return None
        tensor = subject(call, facts)
        message = f"`.tolist()` on the CUDA tensor {shown(tensor, facts)} blocks the CPU until all elements are in host memory"
        return Match(call, message, facts.of(tensor), of_many(call, tensor, facts))
