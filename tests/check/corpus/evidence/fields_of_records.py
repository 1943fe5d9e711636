"""The evidence of a field is the argument for this field, not another one alike; a computed name is the last resort."""

from dataclasses import dataclass

import torch


@dataclass
class Batch:
    first: torch.Tensor
    second: torch.Tensor
    third: torch.Tensor


class Base:
    def run(self, batch: Batch):
        return batch


class CPUBase(Base):
    def run(self, batch: Batch):
        batch.third = torch.ones(4, device=self.device)
        return batch


class Runner:
    def __init__(self, names: list):
        self.names = names

    def make(self):
        first = torch.zeros(4, device="cuda")
        second = torch.ones(4, device="cuda")  # at: second
        return Batch(first, second, third=torch.full((4,), 2.0, device="cuda"))  # at: made

    def step(self, n):
        batch = self.make()
        for name in self.names:
            setattr(batch, name, torch.empty(4, device="cuda"))
        batch.second.tolist()  # expect: SYN102
        # because: made: an assignment sets `second`
        # because: second: `torch.ones(4, device="cuda")` places the tensor on the GPU
        return batch.third.tolist()  # expect: SYN102
        # because: made: `torch.full((4,), 2.0, device="cuda")` places the tensor on the GPU
