"""A list has no `cpu`, an array no `cuda`, a number of Python no `item`: what has the method is the tensor."""

import numpy as np
import torch


def run(kind: int):
    listed = [1, 2] if kind else torch.ones(4, device="cuda")
    listed.cpu()  # expect: SYN105
    listed.copy()  # silent
    array = np.ones(4) if kind else torch.ones(4, device="cuda")
    array.cpu()  # expect: SYN105
    array.tolist()  # silent: it may be an array
    number = 1.5 if kind else torch.ones((), device="cuda")
    number.cpu()  # expect: SYN105
    number.item()  # expect: SYN101
    scalar = np.float32(1.5) if kind else torch.ones((), device="cuda")
    scalar.item()  # silent: it may be a number of NumPy
    text = "a" if kind else torch.ones(4, device="cuda")
    text.tolist()  # expect: SYN102
    maybe = None if kind else torch.ones(4, device="cuda")
    maybe.tolist()  # expect: SYN102
    either = torch.ones(4) if kind else torch.ones(4, device="cuda")
    return either.tolist()  # expect: SYN102
