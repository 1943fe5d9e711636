"""Names of torch are known by where they come from."""

import torch as th
import torch.nn.functional as F
from torch import Tensor
from torch import cuda as gpu_module
from torch import zeros as make_zeros
from torch.nn.functional import one_hot as encoded


def run(t: Tensor):
    make_zeros(4, device="cuda").tolist()  # expect: SYN102
    th.ones(4, device="cuda").tolist()  # expect: SYN102
    ids = th.arange(4, device="cuda")
    F.one_hot(ids)  # expect: SYN206
    encoded(ids)  # expect: SYN206
    encoded(ids, 8)  # silent
    gpu_module.synchronize()  # expect: SYN401
    return t.item()  # expect: SYN101 (assumed)
