"""An assumption is said to be one."""

import torch
from backend import lease


def run(lens: torch.Tensor):  # at: lens
    lens.tolist()  # expect: SYN102 (assumed)
    # because: lens: `lens` is a tensor, and no code found places the tensor on the CPU


def named():  # at: named
    rows_gpu = lease()
    rows_gpu.tolist()  # expect: SYN102 (assumed)
    # because: named: the name `rows_gpu` promises the GPU


class Metadata:
    lens: torch.Tensor  # at: declared

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (assumed)
        # because: declared: `lens` is a tensor, and no code found places the tensor on the CPU


def each(masks: list[torch.Tensor]):  # at: masks
    if any(mask.any() for mask in masks):  # expect: SYN104 (assumed)
        # because: masks: `masks` is a tensor, and no code found places the tensor on the CPU
        return all((mask.all() for mask in masks))  # expect: SYN104 (assumed)
