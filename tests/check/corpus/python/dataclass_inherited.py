"""The fields of a base come first; `__post_init__` runs after all."""

import dataclasses

import torch


@dataclasses.dataclass(frozen=True)
class Base:
    ids: torch.Tensor


@dataclasses.dataclass(frozen=True)
class Batch(Base):
    lens: torch.Tensor

    def __post_init__(self):
        self.total = torch.ones(1, device="cuda")

    def read(self):
        self.total.item()  # expect: SYN101
        self.ids.tolist()  # silent
        return self.lens.tolist()  # expect: SYN102


Batch(torch.ones(3), torch.ones(3, device="cuda")).read()
