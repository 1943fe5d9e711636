"""What runs without gradients is taken for a step."""

import torch
from torch import inference_mode


@torch.inference_mode()
def step():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
    # reached: step


@torch.no_grad()
def other():
    return helper()


@inference_mode
def bare():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)


@torch.enable_grad()
def train():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)


def helper():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
    # reached: other > helper


def unused():
    with torch.no_grad():
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


class Permute:
    @torch.no_grad()
    def convert(self, weights):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)
