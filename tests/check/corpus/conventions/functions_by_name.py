"""The name of a function promises where its result is, if its body does not say."""

import torch
from backend import kernel


def lens_cpu(n: int) -> torch.Tensor:
    return kernel(n)


def lens_gpu(n: int) -> torch.Tensor:
    return kernel(n)


def lens(n: int) -> torch.Tensor:
    return kernel(n)


lens_cpu(3).tolist()  # silent
lens_gpu(3).tolist()  # expect: SYN102 (assumed)
lens(3).tolist()  # silent
