"""A private helper that only other hardware calls is left out; one that more calls is not."""

import torch
from platforms import current_platform


def _only_there(t: torch.Tensor):
    return t.item()  # silent


def _also_here(t: torch.Tensor):
    return t.item()  # expect: SYN101


def public(t: torch.Tensor):
    return t.item()  # expect: SYN101 (assumed)


def run():
    t = torch.ones(1, device="cuda")
    if current_platform.is_tpu():
        _only_there(t)
        _also_here(t)
        public(t)
    _also_here(t)
