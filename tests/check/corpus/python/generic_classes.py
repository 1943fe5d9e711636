"""A generic class, subscripted, is the class."""

from typing import Generic, TypeVar

import torch

T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


Box[torch.Tensor](torch.ones(1, device="cuda")).get().item()  # expect: SYN101


def read(box: Box[torch.Tensor]):
    return box.value.item()  # expect: SYN101
