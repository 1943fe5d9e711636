"""A module may define a name in a branch, a try or a with."""

import sys

import torch

try:
    from fast import kernel
except ImportError:

    def kernel(t):
        return t.sum()


if sys.version_info >= (3, 11):

    def make(n):
        return torch.zeros(n, device="cuda")

else:

    def make(n):
        return torch.zeros(n, device="cuda")


with open(__file__) as source:

    class Reader:
        def read(self, t):
            return t.item()  # expect: SYN101


make(4).tolist()  # expect: SYN102
Reader().read(kernel(make(4)))
for kind in ("a", "b"):
    total = torch.ones(1, device="cuda")
total.item()  # expect: SYN101
