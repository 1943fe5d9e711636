"""Imports from the first, and declares the field otherwise."""

import torch
from fields import Field

from .first import Tower


def fields_of(inputs):
    return {"sizes": Field.batched("image"), "tower": Tower()}


def total(sizes: torch.Tensor):
    return sizes.sum().item()  # expect: SYN101 (assumed)
