"""A condition that is returned or kept does not ask for the truth of its last part: that waits where somebody does."""

import torch


class Layer:
    def absorbs(self, lens: torch.Tensor, flag: bool):
        return not flag and lens.cuda().sum() == 0  # silent: SYN104

    def several(self, lens: torch.Tensor, flag: bool):
        return not flag and self.training and lens is not None and lens.cuda().any()  # silent: SYN104

    def forward(self, lens: torch.Tensor, flag: bool):
        if self.absorbs(lens, flag):  # expect: SYN104
            return lens
        if not self.several(lens, flag):  # expect: SYN104
            return lens
        return self.of_the_host(flag) or lens  # silent

    def of_the_host(self, flag: bool):
        return not flag and torch.ones(4).any()

    def run(self, flag: bool, x=None):
        gpu = torch.ones(4, device="cuda")
        empty = flag and (gpu > 1).any()  # silent
        either = x or gpu  # silent
        numbers = flag and gpu  # silent
        host = flag and torch.ones(1).any()  # silent
        alone = gpu.any()  # silent
        if flag and gpu.any():  # expect: SYN104
            return empty, either
        return numbers, host, alone
