# python: 3.12
"""Type parameters of Python 3.12."""

import torch

type Rows = list[torch.Tensor]


class Box[T]:
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


def first[T](values: list[T]) -> T:
    return values[0]


Box(torch.ones(1, device="cuda")).get().item()  # expect: SYN101
first([torch.ones(1, device="cuda")]).item()  # expect: SYN101
