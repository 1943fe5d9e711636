"""`.item()` on a GPU tensor copies one number to the host, and blocks the CPU until the number is there.

All work queued on the stream before has to finish first. The host then has nothing queued ahead, so
the GPU idles until the next launches arrive.

**Stays silent** on CPU tensors and NumPy scalars.

**No rewrite.** Often the host needs no number: keep the arithmetic, the clamp or the comparison on the GPU. Otherwise
take the number from host data: the list from which the tensor was made, a shape, an upper bound. If the host must read
the tensor, copy to pinned memory with `non_blocking=True`, record an event, and synchronize the event before the
read.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._instead import of_a_number
from ._shared import blocking_call, shown, subject


class ItemRead(Rule):
    code = "SYN101"
    name = "item-read"
    summary = "`.item()` reads a number from the GPU"
    instead = "keep the number on the GPU, or use a value that the host already has"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

losses = torch.zeros(8, device="cuda")
total = losses.sum().item()  # expect: SYN101
"""
        ),
        Example(
            bad="""\
import torch


def last_start(starts: torch.Tensor) -> int:
    return starts[-1].item()  # expect: SYN101


last_start(torch.arange(9, device="cuda"))
"""
        ),
        Example(
            good="""\
import torch

lens = torch.zeros(8)
longest = lens.max().item()
"""
        ),
        Example(
            good="""\
import numpy as np
import torch

lens = torch.zeros(8, device="cuda")
size = lens.numel() * lens.element_size() + np.arange(8).sum().item()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SCALAR, {"torch.Tensor.item"})
        if call is None:
            return None
        tensor = subject(call, facts)
        message = f"`.item()` on the CUDA tensor {shown(tensor, facts)} blocks the CPU until the number is in host memory"
        return Match(call, message, facts.of(tensor), of_a_number(call, tensor, facts))
