"""Two tensors may each be put where the other is; the evidence ends where it comes back to a device."""

import torch


class Pair:
    def make_first(self):
        self.first = torch.zeros(3, device=self.second.device)
        return self.first.max().item()  # expect: SYN101

    def make_second(self):
        self.second = torch.zeros(3, device=self.first.device)
        return self.second.max().item()  # expect: SYN101

    def begin(self):
        self.second = torch.zeros(3, device="cuda")
