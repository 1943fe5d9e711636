"""isinstance with several kinds tells of what is not known that it is one of them, and not which."""

import numpy as np
import torch
from backend import lease


def run():
    gpu = torch.zeros(8, device="cuda")
    value = lease()
    if isinstance(value, (list, np.ndarray)):
        gpu[value]  # todo: SYN305
    other = lease()
    if isinstance(other, (list, tuple)):
        gpu[other]  # silent: a tuple is several integers
    number = 3
    if isinstance(number, torch.Tensor):
        number.item()  # silent
    return gpu[{n for n in range(3)}]  # silent: no index of torch
