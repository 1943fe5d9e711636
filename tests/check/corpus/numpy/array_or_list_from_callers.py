"""What is made of an array is like it, even if a caller passes a list."""

import numpy as np
import torch


def kept(counts: np.ndarray):
    mask = torch.from_numpy(counts >= 0)
    return torch.zeros(3, device="cuda")[mask]  # silent: a mask in host memory


kept(np.zeros(3))
kept([1, 2])
