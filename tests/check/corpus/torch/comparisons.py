"""A comparison of tensors is a mask where they are; that of numbers is a number."""

import torch


def run(n: int):
    gpu, host = torch.ones(4, device="cuda"), torch.ones(4)
    gpu[gpu == 1]  # expect: SYN201
    gpu[gpu.eq(1)]  # expect: SYN201
    gpu[1 <= gpu]  # expect: SYN201
    gpu[torch.isnan(gpu)]  # expect: SYN201
    gpu[torch.logical_and(gpu > 0, gpu < 1)]  # expect: SYN201
    gpu[gpu.bool()]  # expect: SYN201
    gpu[gpu.to(torch.bool)]  # expect: SYN201
    gpu[host == 1]  # silent
    gpu[gpu.long()]  # silent
    gpu[torch.argsort(gpu)]  # silent
    if n == 1 and n > 2:  # silent
        pass
    if gpu is None or gpu is host:  # silent
        pass
    equal = gpu == host.sum()
    if equal.all():  # expect: SYN104
        pass
    if torch.equal(gpu, gpu):  # expect: SYN103
        pass
    return torch.allclose(gpu, gpu)  # expect: SYN103
