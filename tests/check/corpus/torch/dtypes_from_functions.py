"""A dtype that torch works out is no device, and a pool gives one tensor unless it is asked for indices."""

import torch
import torch.nn.functional as F


def run(a, b, host_like=None):
    host, gpu = torch.ones(4), torch.ones((1, 4, 4), device="cuda")
    work = torch.promote_types(host.dtype, torch.float32)
    host.to(work).tolist()  # silent
    host.to(torch.get_default_dtype()).tolist()  # silent
    host.to(torch.result_type(host, 1)).tolist()  # silent
    gpu.to(work).tolist()  # expect: SYN102
    pooled = F.max_pool2d(gpu, 3, 1, 1)
    pooled * gpu  # silent
    pooled.tolist()  # expect: SYN102
    values, indices = F.max_pool2d(gpu, 3, return_indices=True)
    indices.tolist()  # expect: SYN102
    return values.tolist()  # expect: SYN102
