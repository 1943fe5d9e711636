"""Statements that only the first iteration of a loop over steps reaches are not per step."""

import torch
from torch import nn


class Generator(nn.Module):
    def forward(self, x: torch.Tensor):
        is_first = True
        for layer in self.layers:
            if is_first:
                is_first = False
                torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
            x = layer(x)
        return x


class Engine:
    def decode_batch(self, model: Generator, ids: torch.Tensor):
        is_first = True
        for _ in range(3):
            ids = model.forward(ids)
            if is_first:
                torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
                is_first = False
        return ids


@torch.inference_mode()
def search(model: Generator, ids: torch.Tensor, n: int):
    searching = True
    for _ in range(n):
        ids = model(ids)
        if searching:
            count = ids.sum().item()  # expect: SYN101 (step)
            if count > 3:
                searching = False
    return ids


@torch.inference_mode()
def generate(model: Generator, ids: torch.Tensor, n: int):
    is_prefill = True
    has_started = False
    is_even = True
    for _ in range(n):
        ids = model(ids)
        if is_prefill:
            is_prefill = False
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)
        else:
            torch.tensor([3, 4], device="cuda")  # expect: SYN301 (step)
        if not has_started:
            torch.tensor([5, 6], device="cuda")  # expect: SYN301 (once)
            has_started = True
        if is_even:
            is_even = False
            torch.tensor([7, 8], device="cuda")  # expect: SYN301 (step)
        else:
            is_even = True
    return ids
