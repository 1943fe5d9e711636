"""What may be an array as well as a tensor is not said to wait; only a tensor has the other methods."""

import numpy as np
import torch


def run(fast: bool):
    x = torch.ones(4, device="cuda") if fast else np.ones(4)
    x.item(), x.tolist(), x.nonzero()  # silent
    if x.all() or x.any():  # silent
        pass
    x.argmax().tolist(), x.argmin().tolist(), x.argsort().tolist(), x.astype(int).tolist()  # silent
    x.clip(0).tolist(), x.copy().tolist(), x.cumprod(0).tolist(), x.cumsum(0).tolist()  # silent
    x.diagonal().tolist(), x.dot(x).tolist(), x.fill(0), x.flatten().tolist()  # silent
    x.max().tolist(), x.mean().tolist(), x.min().tolist(), x.partition(1), x.prod().tolist()  # silent
    x.put(0, 1), x.ravel().tolist(), x.repeat(2).tolist(), x.reshape(-1).tolist(), x.resize(2)  # silent
    x.round().tolist(), x.searchsorted(1).tolist(), x.sort(), x.squeeze().tolist()  # silent
    x.std().tolist(), x.sum().tolist(), x.swapaxes(0, 1).tolist(), x.take(0).tolist()  # silent
    x.tobytes(), x.trace().tolist(), x.transpose().tolist(), x.var().tolist(), x.view().tolist()  # silent
    x.cpu()  # expect: SYN105
    x.unsqueeze(0).tolist()  # expect: SYN102
    return x.unique()  # expect: SYN204
