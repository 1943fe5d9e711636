"""Functions that run compiled only: what they build on the host becomes a constant, and what they read still blocks."""

import functools

import numpy as np
import torch


def conditional_torch_compile(function=None, **options):
    if function is None:
        return functools.partial(conditional_torch_compile, **options)
    if torch.cuda.is_available():
        return torch.compile(function, **options)
    return function


@torch.compile
def scaled(x: torch.Tensor, ids: torch.Tensor):
    x[ids] = 1  # silent
    y = x[[0, 2]] * torch.tensor(2.0, device="cuda")  # silent
    return helper(y)


def helper(y: torch.Tensor):
    return y * torch.tensor([1.0, 2.0], device="cuda")  # silent: only compiled functions call it


def shared(y: torch.Tensor):
    return y * torch.tensor(3.0, device="cuda")  # expect: SYN301


@conditional_torch_compile(fullgraph=False)
def through_a_decorator(x: torch.Tensor):
    if x.cuda(non_blocking=True).sum() > 0:  # expect: SYN104
        return x * torch.tensor(2.0, device="cuda")  # silent
    return shared(x)


@torch.compile
def leaves_the_graph_in_a_loop(x: torch.Tensor):
    x = x.cuda(non_blocking=True)
    for row in range(3):
        if x[row].sum() > 0:  # expect: SYN104
            x = x * torch.tensor(2.0, device="cuda")  # expect: SYN301
    return x


@torch.compile
def of_arguments(x: torch.Tensor, rows: np.ndarray):
    return x.cuda(non_blocking=True) + torch.as_tensor(rows, device="cuda")  # expect: SYN301


@torch.compiler.disable
def disabled(x: torch.Tensor):
    return x * torch.tensor(4.0, device="cuda")  # expect: SYN301


@torch.compile
class Model(torch.nn.Module):
    def forward(self, x):
        return disabled(x) * torch.tensor(2.0, device="cuda")  # silent


def main():
    x, ids = torch.zeros(3, device="cuda"), torch.zeros(3, dtype=torch.long, device="cuda")
    scaled(x, ids)
    through_a_decorator(x)
    shared(x)
