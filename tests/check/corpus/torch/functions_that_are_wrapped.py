"""A function that torch compiles, or keeps from its compiler, still does what its source says."""

import torch

svd = torch.compiler.disable(torch.linalg.svd)
eigh = torch._dynamo.disable(torch.linalg.eigh)


def count(x):
    return x.sum().item()  # expect: SYN101


apart = torch.compiler.disable(count)
scripted = torch.jit.script(count)


def step():
    x = torch.ones(3, 3, device="cuda")
    svd(x)  # expect: SYN502
    return eigh(x @ x)  # expect: SYN502


def read():
    x = torch.ones(3, 3, device="cuda")
    return apart(x) + scripted(x)
