"""Triton comes with torch for CUDA, so what runs without it runs on other hardware; a flag may be an option of the program."""

import os

import torch
from packages import has_triton, is_triton_available

HAS_TRITON = os.environ.get("USE_TRITON") == "1"


def _slower(x):
    return x.cuda().prod().item()


class Model(torch.nn.Module):
    def __init__(self, has_triton=False):
        super().__init__()
        self.has_triton = has_triton

    def forward(self, x):
        if not is_triton_available():
            return _slower(x), x.max().item()
        if not has_triton() or x.ndim > 3:
            x.std().item()  # expect: SYN101 (step)
        if not HAS_TRITON:
            x.min().item()  # expect: SYN101 (step)
        if self.has_triton:
            return x
        return x.tolist() if has_triton() else x.sum().item()  # expect: SYN102 (step)
