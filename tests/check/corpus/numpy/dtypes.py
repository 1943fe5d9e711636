"""The dtype of an array says whether a tensor of it is a mask."""

import numpy as np
import torch


def run(lens: np.ndarray):
    gpu = torch.zeros(8, device="cuda")
    gpu[torch.from_numpy(lens.astype(np.bool_))]  # silent
    gpu[torch.from_numpy(lens.astype(np.int32))]  # expect: SYN305
    gpu[torch.from_numpy(lens.astype(np.int64))]  # expect: SYN305
    torch.zeros(8, dtype=np.float32, device="cuda").tolist()  # expect: SYN102
    gpu[torch.from_numpy(np.greater(lens, 1))]  # silent
    gpu[torch.from_numpy(np.less(lens, 1))]  # silent
    gpu[torch.from_numpy(np.equal(lens, 1))]  # silent
    gpu[torch.from_numpy(np.logical_or(lens, lens))]  # silent
    gpu[torch.from_numpy(np.logical_not(lens))]  # silent
    gpu[torch.from_numpy(np.isin(lens, 1))]  # silent
    gpu[torch.from_numpy(lens != 0)]  # silent
    gpu[torch.from_numpy(lens > 0) & torch.from_numpy(lens < 4)]  # silent
    return gpu[torch.from_numpy(lens)]  # expect: SYN305
