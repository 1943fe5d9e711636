"""Functions that NumPy alone has: arrays, unless they reduce everything."""

import numpy as np
import torch


def run(lens: list[int], n: int):
    gpu = torch.zeros(8, device="cuda")
    gpu[np.sum(lens)] = 1  # expect: SYN306
    gpu[np.min(lens)] = 1  # expect: SYN306
    gpu[np.prod(lens)] = 1  # expect: SYN306
    gpu[0] = np.mean(lens)  # expect: SYN306
    gpu[0] = np.any(lens)  # expect: SYN306
    gpu[0] = np.all(lens)  # expect: SYN306
    gpu[np.sum(lens, axis=0)]  # expect: SYN305
    gpu[np.sum(lens, 0)]  # expect: SYN305
    gpu[0] = np.float32(1)  # expect: SYN306
    gpu[0] = np.float64(1)  # expect: SYN306
    gpu[0] = np.bool_(1)  # expect: SYN306
    gpu[np.ndim(lens)] = 1  # expect: SYN306
    gpu[np.size(lens)] = 1  # expect: SYN306
    gpu[0] = np.isscalar(n)  # expect: SYN306
    gpu[np.roll(lens, 1)]  # expect: SYN305
    gpu[np.where(lens)[0]]  # expect: SYN305
    gpu[np.nonzero(lens)[0]]  # expect: SYN305
    gpu[np.flatnonzero(lens)]  # expect: SYN305
    gpu[np.random.randint(0, 4, n)]  # expect: SYN305
    for part in np.split(np.arange(8), 2):
        gpu[part]  # expect: SYN305
    index, counts = np.unique(lens, return_counts=True)
    return gpu[index]  # expect: SYN305
