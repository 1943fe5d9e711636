"""Every statement of a class body sets attributes, and they are no names of the module."""

import sys

import torch

t = torch.zeros(1)


class Limits:
    if sys.platform == "linux":
        t = torch.zeros(1, device="cuda")
    else:
        t = torch.zeros(2, device="cuda")

    class Inner:
        low = torch.zeros(1, device="cuda")

        def read(self):
            return self.low.item()  # expect: SYN101

    def read(self):
        return self.t.item()  # expect: SYN101


def read():
    return t.item()  # silent
