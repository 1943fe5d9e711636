"""A device that is known late still belongs to the calls that pass it: others make their tensors on the host."""

import torch
from numpy import array, ndarray
from other import Base


class Image(Base):
    pass


class Point(Base):
    pass


def of_array(x, **kwargs):
    return torch.as_tensor(x, **kwargs)  # expect: SYN301


def of_anything(x, *rest, **kwargs):
    if len(rest):
        x = (x,) + rest
    if isinstance(x, (tuple, list)):
        return torch.tensor(x, **kwargs)  # expect: SYN301
    return of_array(x, **kwargs) if isinstance(x, ndarray) else of_array(array(x), **kwargs)


def mask(x, values):
    return of_anything(values[: x.size(0)], device=x.device)


def flip(x: torch.Tensor, values=None):
    return x.new_ones(3) * mask(x, values)


def defaults(x, mode=None):
    first = x[0] if isinstance(x, tuple) else x
    return first, mode


def flip_batch(x: Image | Point, values=None):
    first, mode = defaults(x)
    return flip(first, values)


def find(self):
    return of_anything(self.losses[1:]).sum().item()  # silent
