"""`.item()` on a GPU tensor copies one number to the host, and the host waits until it is there.

Everything queued on the stream before it has to finish first, and the GPU then idles until the host has
caught up and queued the next kernel.

Silent on CPU tensors and NumPy arrays.
"""

import libcst as cst

from syncscan.model import Kind
from syncscan.rule import Example, Facts, Match, Rule


class ItemRead(Rule):
    code = "SYN101"
    name = "item-read"
    summary = "`.item()` reads a GPU tensor from the host"
    instead = "keep the number on the GPU, or take it from a host mirror that the scheduler already has"
    nodes = (cst.Call,)
    examples = (
        Example(
            bad="""\
import torch

losses = torch.zeros(8, device="cuda")
print(losses.sum().item())  # expect: SYN101
"""
        ),
        Example(
            good="""\
import torch

lens = torch.zeros(8)
print(lens.max().item())
"""
        ),
    )

    def match(self, node: cst.CSTNode, facts: Facts) -> Match | None:
        if not isinstance(node, cst.Call) or facts.name_of(node.func) != "torch.Tensor.item":
            return None
        assert isinstance(node.func, cst.Attribute)
        tensor = facts.of(node.func.value)
        if not tensor.is_gpu or tensor.kind is Kind.UNKNOWN:
            return None
        return Match(node, "`.item()` copies a number from the GPU and waits for it", because=tensor)
