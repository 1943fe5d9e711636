"""A union under another name keeps its tensors."""

from typing import Optional, Union

import torch

Scalar = Union[float, torch.Tensor]
Name = Union[str, int]


def start(t0: Scalar, t1: Optional[Scalar] = None):
    mask = torch.as_tensor(t0)
    if t1 is None:
        return mask
    return t1.cpu()  # expect: SYN105 (inferred)


def named(name: Name):
    if name:  # silent
        return name
    return None
