"""An annotation of a number on an attribute is believed, whatever is stored, as one of a parameter is."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Batch:
    size: int
    longest: "int | None"
    lens: torch.Tensor
    open: object = None
    lists: "list[int] | None" = None
    pairs: "dict[str, tuple[int, int]] | None" = None
    loose: "list | None" = None


class Runner:
    limit: int = 8

    def __init__(self, batch: Batch, rnn: nn.GRU, layer: nn.Linear):
        gpu = torch.ones(4, device="cuda")
        self.limit = gpu.max()
        batch.size = gpu.max()
        batch.longest = gpu.max()
        batch.open = gpu.max()
        batch.lists = gpu
        batch.pairs = {"a": (gpu.max(), 2)}
        batch.loose = [gpu.max()]
        batch.lens = gpu
        if rnn.bias:  # silent: whether a recurrent layer has biases
            print(f"{layer.bias}")  # expect: SYN107

    def step(self, batch: Batch):
        if self.limit > batch.size:  # silent
            return f"{batch.longest}"  # silent
        print(f"{max(batch.lists)} {batch.lists[0]} {batch.pairs['a'][0]}")  # silent
        print(f"{batch.loose[0]}")  # expect: SYN107
        if batch.open:  # expect: SYN104
            return None
        return batch.lens.max().item()  # expect: SYN101
