"""An attribute that is declared and never seen to be set is a tensor on the GPU by assumption alone."""

from typing import ClassVar

import torch


class Metadata:
    lens: torch.Tensor
    lens_cpu: torch.Tensor
    count: int
    table: ClassVar[torch.Tensor] = torch.ones(4)

    def read(self):
        self.lens.tolist()  # expect: SYN102 (assumed)
        self.lens_cpu.tolist()  # silent
        self.table.tolist()  # silent
        return self.count.bit_length()  # silent
