"""Attributes of a tensor: views where it is, and what the host knows of it."""

import math
import sys

import numpy as np
import torch


def run():
    gpu = torch.ones((4, 4), device="cuda")
    gpu.T.tolist(), gpu.mT.tolist(), gpu.H.tolist(), gpu.mH.tolist()  # expect: SYN102, SYN102, SYN102, SYN102
    gpu.data.tolist(), gpu.grad.tolist()  # expect: SYN102, SYN102
    gpu.real.tolist(), gpu.imag.tolist()  # expect: SYN102, SYN102
    flat = torch.zeros(8, device="cuda")
    flat[gpu.ndim] = 1  # expect: SYN306
    flat[gpu.itemsize] = gpu.nbytes  # expect: SYN306
    flat[gpu.shape[0]] = 1  # expect: SYN306
    for n in gpu.shape:
        flat[n] = 1  # expect: SYN306
    if gpu.is_cuda or gpu.requires_grad or gpu.is_leaf or gpu.is_sparse or gpu.is_cpu:  # silent
        pass
    torch.zeros(4, device=gpu.device.type).tolist()  # expect: SYN102
    torch.zeros(4, device=torch.ones(1).device.type).tolist()  # silent
    flat[torch.zeros(8, dtype=(flat > 0).dtype, device="cuda")]  # expect: SYN201
    flat[torch.zeros(8, dtype=flat.long().dtype, device="cuda")]  # silent
    flat[0] = math.inf  # expect: SYN306
    flat[1] = math.pi  # expect: SYN306
    flat[2] = np.inf  # expect: SYN306
    flat[3] = np.nan  # expect: SYN306
    flat[4] = sys.maxsize  # expect: SYN306
    return gpu.some_attribute_of_a_subclass.item()  # silent
