"""Classes whose bases are not known, are generic, or go in a circle."""

from typing import Generic, TypeVar

import torch
from backend import Unknown

T = TypeVar("T")


class A(Unknown):
    def read(self):
        self.inherited().item()  # silent
        return self.t.item()  # expect: SYN101

    def write(self):
        self.t = torch.ones(1, device="cuda")


class B(A, Generic[T]):
    def again(self):
        return self.t.item()  # expect: SYN101


class C(B[int]):
    def deep(self):
        return self.t.item()  # expect: SYN101


class Loop(Loop):  # noqa: F821
    def read(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101


def outer():
    class D(C):
        def local(self):
            return self.t.item()  # expect: SYN101

    return D
