"""A parameter that is used as only a tensor can be is one, on the GPU for all that is known, where nobody is seen to pass it."""

import other
import torch
from torch import nn


def norm_of(x):  # at: x
    if torch.isfinite(x):  # expect: SYN104 (assumed)
        # because: x: `x` is used as a tensor: the call blocks if the argument is on the GPU
        return x.item()  # expect: SYN101 (assumed)
    return x.unsqueeze(0)


def total(w):
    torch.sum(w, dim=0)
    return w.item()  # expect: SYN101 (assumed)


def total_of_another_library(v, u):
    other.sum(v)
    torch.stack(u)
    print(v.item())  # silent
    return u.item()  # silent


def shown(y):
    return y.unsqueeze(0).tolist()  # expect: SYN102 (assumed)


def on_host(lens_cpu):
    return torch.sum(lens_cpu).item()  # silent


def of_anything(value, n):
    torch.as_tensor(value)
    torch.zeros(n, device="cuda")  # silent
    return value.item()  # silent


def passed(z):
    return torch.sum(z).item()  # silent


passed(torch.zeros(3))


class Model(nn.Module):
    def forward(self, images: list[torch.Tensor], targets: dict[str, torch.Tensor]):
        if targets["boxes"].any():  # expect: SYN104 (inferred)
            return images[0].max().item()  # expect: SYN101 (inferred)
        return None


class Loss(nn.Module):
    def forward(self, scores, target, weights, count, flag, table):
        kept = target.view(scores.shape[0], -1) != self.ignored
        scores[kept]  # expect: SYN201 (inferred)
        if nn.functional.softmax(weights, -1).isnan().any():  # expect: SYN104 (inferred)
            return table.values()
        if flag or count > 3:  # silent: they may be anything
            return count
        return target.tolist()  # expect: SYN102 (inferred)

    def __init__(self, ignored):
        super().__init__()
        self.ignored = ignored


def masked(x, y, z, u, v):
    x[(y != 3) * (y < 9)]  # expect: SYN201 (assumed)
    z[(u > 1).any(dim=-1)]  # expect: SYN201 (assumed)
    kept = v > 0
    kept &= v < 9
    v[kept.view(-1)]  # expect: SYN201 (assumed)


def scaled(x, y, rows):
    x[rows * (y > 3)]  # silent: the product may be an index
    return x[rows.view(-1)]  # silent


def of_arrays(frame, kinds, names):
    print(frame[(frame > 3).all(axis=1)])  # silent
    for i, name in enumerate(names):
        print(kinds[(name == "a") * (i > 3)])  # silent


def of_functions(c, e, a, cond):
    torch.where(c)  # expect: SYN202 (assumed)
    print(torch.isin(e, a.cuda()), e)  # silent of `e`, which may be a number # expect: SYN107
    torch.linalg.eigh(a)  # expect: SYN502 (assumed)
    torch._assert(cond, "a bool, or a tensor")  # silent
