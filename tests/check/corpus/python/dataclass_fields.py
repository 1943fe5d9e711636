"""The fields of a dataclass are what its maker is given, by place or by name."""

from dataclasses import dataclass, field

import torch


@dataclass
class Batch:
    ids: torch.Tensor
    lens: torch.Tensor
    names: list[str] = field(default_factory=list)
    bias: torch.Tensor | None = None

    def longest(self):
        return self.lens.max().item()  # expect: SYN101 (inferred)

    def first(self):
        if self.bias is not None:
            self.bias.item()  # expect: SYN101
        return self.ids[0].item()  # silent


def build(n: int):
    return Batch(torch.ones(n), lens=torch.ones(n, device="cuda"))


batch = build(3)
batch.lens.tolist()  # expect: SYN102
batch.ids.tolist()  # silent
Batch(torch.ones(1), torch.ones(1, device="cuda"), [], torch.ones(1, device="cuda"))
