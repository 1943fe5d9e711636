"""A class variable is no field; defaults and keyword-only markers keep the order."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import torch


@dataclass
class Batch:
    limit: ClassVar[int] = 4
    lens: torch.Tensor = None
    ids: torch.Tensor = None

    def read(self):
        self.ids.tolist()  # silent
        return self.lens.tolist()  # expect: SYN102 (inferred)


@dataclass
class Marked:
    lens: torch.Tensor
    _: KW_ONLY
    ids: torch.Tensor

    def read(self):
        self.ids.tolist()  # silent
        return self.lens.tolist()  # expect: SYN102 (inferred)


Batch(torch.ones(4, device="cuda"), torch.ones(4))
Marked(torch.ones(4, device="cuda"), ids=torch.ones(4))
