"""What the host knows of a tensor is a number of Python."""

import torch


def run():
    gpu = torch.ones((4, 4), device="cuda")
    flat = torch.zeros(8, device="cuda")
    flat[0] = gpu.is_cuda  # expect: SYN306
    flat[0] = gpu.is_cpu  # expect: SYN306
    flat[0] = gpu.requires_grad  # expect: SYN306
    flat[0] = gpu.is_leaf  # expect: SYN306
    flat[0] = gpu.is_sparse  # expect: SYN306
    flat[0] = gpu.dim()  # expect: SYN306
    flat[0] = gpu.numel()  # expect: SYN306
    flat[0] = gpu.size(0)  # expect: SYN306
    flat[0] = gpu.data_ptr()  # expect: SYN306
    flat[0] = torch.cuda.device_count()  # expect: SYN306
    flat[0] = len(gpu)  # expect: SYN306
    flat[0] = gpu.item()  # expect: SYN101, SYN306
    flat[0] = gpu.tolist()[0]  # expect: SYN102, SYN306
    flat[gpu.tolist()]  # expect: SYN102, SYN305
    return flat
