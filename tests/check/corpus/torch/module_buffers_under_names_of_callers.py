"""A helper that registers buffers under the names that its callers pass."""

import torch
from torch import nn


class Schedule(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        betas = torch.linspace(0, 1, n)

        def register(name, values):
            self.register_buffer(name, values.to(torch.float32))

        register("betas", betas)
        register("alphas", 1 - betas)
        self.keep("steps", torch.zeros(3))

    def keep(self, name: str, values):
        self.register_buffer(name, values, persistent=False)

    def forward(self, x: torch.Tensor):
        low = self.alphas.min().item()  # expect: SYN101
        high = self.betas.max().item()  # expect: SYN101
        return low + high + self.steps.sum().item()  # expect: SYN101


def run():
    return Schedule(4).to("cuda")(torch.ones(4, device="cuda"))  # todo: SYN302
