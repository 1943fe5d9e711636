"""A mask that was made of an array of bools is counted on the host."""

import numpy as np
import torch


def run(lens: np.ndarray):
    gpu = torch.zeros(8, device="cuda")
    gpu[torch.from_numpy(lens > 0)]  # silent
    gpu[torch.from_numpy(np.isnan(lens))]  # silent
    gpu[torch.from_numpy(np.zeros(8, dtype=bool))]  # silent
    gpu[torch.from_numpy(np.zeros(8, dtype=np.bool_))]  # silent
    gpu[torch.from_numpy(lens.astype(bool))]  # silent
    gpu[torch.from_numpy(np.zeros(8, dtype=np.int32))]  # expect: SYN305
    gpu[torch.from_numpy(np.logical_and(lens, lens))]  # silent
    return gpu[torch.from_numpy(np.argsort(lens))]  # expect: SYN305
