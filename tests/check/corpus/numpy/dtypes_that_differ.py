"""Masks and integers of NumPy give integers together."""

import numpy as np
import torch


def run(lens: np.ndarray):
    gpu = torch.zeros(8, device="cuda")
    gpu[torch.from_numpy((lens > 0) * lens.astype(np.int64))]  # expect: SYN305
    gpu[torch.from_numpy((lens > 0) & (lens < 4))]  # silent
    return gpu[torch.from_numpy(~(lens > 0))]  # silent
