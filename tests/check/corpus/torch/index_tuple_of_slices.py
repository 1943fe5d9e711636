"""A tuple of slices is no list of indices, and a tuple of lists is."""

import torch


def crop(axis: int, size: int):
    rows = torch.zeros((8, 4), device="cuda")
    window = [slice(None)] * rows.dim()
    window[axis] = slice(size)
    part = rows[tuple(window)]  # silent
    parts = tuple(slice(0, n) for n in rows.shape)
    part = rows[parts]  # silent
    rows[parts] = 0.0  # silent
    return part, rows[list(range(size))]  # expect: SYN305


def pick(columns: list[int]):
    rows = torch.zeros((8, 4), device="cuda")
    return rows[tuple([columns] * 2)]  # expect: SYN305
