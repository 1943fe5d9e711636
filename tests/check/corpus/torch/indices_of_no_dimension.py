"""An index that is a tensor of no dimension picks one of a dimension, as a number does."""

import torch


def numbers():
    cube = torch.zeros((4, 4, 4), device="cuda")
    row = cube[1, 2]
    row[0] = 1.0  # expect: SYN306
    plane = cube[1]
    plane[0] = 1.0  # silent: a row is filled


def tensors():
    cube = torch.zeros((4, 4, 4), device="cuda")
    first, second = torch.zeros((), dtype=torch.int64), torch.ones((), dtype=torch.int64)
    row = cube[first, second]
    row[0] = 1.0  # expect: SYN306
    plane = cube[first]
    plane[0] = 1.0  # silent: a row is filled
