"""A function that returns its argument gives each caller its own, and a test for a class that no tensor is of leaves tensors out."""

import torch
from PIL import Image


def checked(x):
    if x is None:
        raise ValueError
    return x


class Base:
    def keep(self, x):
        return x


class Below(Base):
    def keep(self, x):
        return x


def of_both(host: torch.Tensor, keeper: Base):
    checked(torch.ones(3, device="cuda")).tolist()  # expect: SYN102
    checked(torch.ones(3)).tolist()  # silent
    checked([1, 2])[0]  # silent
    keeper.keep(torch.ones(3, device="cuda")).tolist()  # expect: SYN102
    keeper.keep(torch.ones(3)).tolist()  # silent
    Below().keep(x=torch.ones(3, device="cuda")).tolist()  # expect: SYN102


def index(which):
    if isinstance(which, slice) and which == slice(None):  # silent
        return 0
    if isinstance(which, Image.Image) and 3 in which.getexif():  # silent
        return 1
    return which.sum().item()  # expect: SYN101


index(torch.ones(3, device="cuda"))
index(slice(2))
