"""A decorated function is still the function."""

import functools

import torch


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@traced
def read(t):
    return t.item()  # expect: SYN101


@torch.inference_mode()
def sample(n: int):
    return torch.ones(n, device="cuda")


@functools.lru_cache(maxsize=None)
def table(n: int):
    return torch.ones(n, device="cuda")


read(torch.ones(1, device="cuda"))
sample(3).tolist()  # expect: SYN102
table(3).tolist()  # expect: SYN102
