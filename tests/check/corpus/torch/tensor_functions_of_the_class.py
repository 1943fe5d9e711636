"""A method may be called through the class."""

import torch


def run():
    gpu, host = torch.ones(4, device="cuda"), torch.ones(4)
    torch.Tensor.item(gpu.sum())  # expect: SYN101
    torch.Tensor.tolist(gpu)  # expect: SYN102
    torch.Tensor.cuda(host)  # expect: SYN302
    torch.Tensor.to(host, "cuda")  # expect: SYN302
    torch.Tensor.tolist(host)  # silent
    return list(map(torch.Tensor.tolist, [gpu]))  # expect: SYN102
