"""`setattr` under a parameter sets the attributes whose names callers pass."""

import torch


class Metric:
    def __init__(self, device):
        self.device = device

    def add_state(self, name, default):
        if isinstance(default, torch.Tensor):
            default = default.to(self.device)  # expect: SYN302
        setattr(self, name, default)


class Mean(Metric):
    def __init__(self, device):
        super().__init__(device)
        self.add_state("total", torch.zeros(()))
        self.add_state("counts", torch.zeros(4))
        self.add_state("values", [])

    def update(self, x):
        self.total += x.sum()
        self.values.append(x)

    def compute(self):
        filled = self.counts > 0
        print(self.counts[filled])  # expect: SYN201, SYN107
        print(torch.cat(self.values).mean().item())  # expect: SYN101
        return self.total.item()  # expect: SYN101

    def unknown(self):
        return self.missing.item()  # silent


Mean(torch.device("cuda")).update(torch.zeros(3, device="cuda"))
