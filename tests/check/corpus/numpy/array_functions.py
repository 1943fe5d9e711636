"""NumPy's functions give arrays, or numbers where they reduce all."""

import numpy as np
import torch


def run(lens: list[int]):
    gpu = torch.zeros(8, device="cuda")
    gpu[np.cumsum(lens)]  # expect: SYN305
    gpu[np.max(lens)] = 1  # expect: SYN306
    gpu[np.max(lens, axis=0)] = 1  # expect: SYN305
    gpu[np.nonzero(lens)]  # expect: SYN305
    gpu[np.where(lens)]  # expect: SYN305
    gpu[np.where(lens, 1, 2)]  # expect: SYN305
    gpu[np.int64(3)] = 1  # expect: SYN306
    gpu[np.arange(3)]  # expect: SYN305
    gpu[np.arange(3)[0]] = 1  # expect: SYN306
    gpu[np.isin(lens, 3)]  # expect: SYN305
    gpu[:, np.newaxis]  # silent
    gpu[0] = np.inf  # expect: SYN306
    repeated = np.repeat(lens, 2)
    repeated[0].item()  # silent
    for value in np.arange(4):
        gpu[value] = 1  # expect: SYN306
    return np.dtype("int64")
