"""The name of a function places a tensor, and makes none."""

import torch
from backend import kernel


def total_gpu(n: int):
    return kernel(n)


def count_gpu(n: int):
    return 3


def rows_gpu(n: int):
    return torch.cat([kernel(n)])


total_gpu(3).tolist()  # silent
count_gpu(3).bit_length()  # silent
rows_gpu(3).tolist()  # expect: SYN102 (assumed)
