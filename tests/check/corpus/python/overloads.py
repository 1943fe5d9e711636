"""Of an overloaded function the last definition counts."""

from typing import overload

import torch


@overload
def make(n: int) -> torch.Tensor: ...


@overload
def make(n: str) -> str: ...


def make(n):
    return torch.ones(4, device="cuda")


class Reader:
    @overload
    def read(self, t: int) -> int: ...

    @overload
    def read(self, t: torch.Tensor) -> float: ...

    def read(self, t):
        return t.item()  # expect: SYN101


make(3).tolist()  # expect: SYN102
Reader().read(torch.ones(1, device="cuda"))
