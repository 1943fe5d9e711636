import torch
from helpers import longest


class Runner:
    def step(self):
        longest(torch.zeros(4, device="cuda"))
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: Runner.step

    def warm_up(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)


class Model(torch.nn.Module):
    def forward(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)
