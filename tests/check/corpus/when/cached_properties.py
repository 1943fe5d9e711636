"""A cached property runs once for each object, and not in every step."""

import functools

import torch


class Model(torch.nn.Module):
    @functools.cached_property
    def longest(self):
        return torch.ones(4, device="cuda").max().item()  # expect: SYN101 (once)

    @functools.cached_property
    @torch.inference_mode()
    def total(self):
        return torch.ones(4, device="cuda").sum().item()  # expect: SYN101 (once)

    def forward(self):
        return self.longest + self.total  # silent
