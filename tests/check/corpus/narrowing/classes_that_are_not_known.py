"""isinstance with classes that are not known, or with a tuple of both, tells nothing."""

import numpy as np
import torch
from backend import Other, lease


class Mine:
    def __init__(self):
        self.t = torch.ones(1, device="cuda")


class Sub(Mine):
    pass


def run(value):
    x = torch.ones(1, device="cuda")
    if isinstance(x, Other):
        x.item()  # expect: SYN101
    if not isinstance(x, torch.Tensor):
        x.item()  # silent
    got = lease()
    if isinstance(got, Mine):
        got.t.item()  # expect: SYN101
    if isinstance(value, (Mine, Other)):
        value.t.item()  # silent
    if isinstance(value, (Mine, Sub)):
        value.t.item()  # expect: SYN101
    either = Mine() if value else np.ones(3)
    if not isinstance(either, Mine):
        torch.zeros(4, device="cuda")[either]  # expect: SYN305
    sub = Sub()
    if isinstance(sub, Mine):
        sub.t.item()  # expect: SYN101
    return isinstance(x)
