"""Imports from the first."""

import torch

from .first import fields_of


def total(sizes: torch.Tensor, pixels: torch.Tensor):
    return (
        sizes.sum().item(),
        pixels.sum().item(),
        fields_of,
    )  # expect: SYN101 (assumed) `pixels.sum().item()`
