"""From a tensor of the GPU no array is made without a copy; `numpy()` raises an error there."""

import numpy as np
import torch


def run():
    gpu = torch.zeros(8, device="cuda")
    gpu.numpy()  # silent: an error
    gpu.numpy(force=True)  # expect: SYN105
    np.asarray(gpu)  # silent: an error
    array = gpu.cpu().numpy()  # expect: SYN105
    array.tolist()  # silent
    pinned = torch.zeros(8, pin_memory=True)
    view = pinned.numpy()
    view[:4] = 1.0  # silent
    view[:4].sum()  # silent
    return view.tolist()  # silent
