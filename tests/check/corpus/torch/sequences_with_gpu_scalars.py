"""A list that holds a tensor of the GPU is read item by item where numbers are needed."""

import torch


def run(n: int):
    gpu = torch.ones(4, device="cuda")
    torch.tensor([row.sum() for row in gpu], device="cuda")  # expect: SYN106
    torch.tensor([[gpu[0], gpu[1]], [gpu[2], gpu[3]]], device="cuda")  # expect: SYN106
    torch.tensor((gpu[0],))  # expect: SYN106
    torch.tensor([1, 2])  # silent
    torch.zeros([gpu[0], 4])  # expect: SYN106
    torch.split(gpu, [gpu[0], gpu[1]])  # expect: SYN106
    torch.split(gpu, [1, 3])  # silent
    max([row for row in gpu])  # expect: SYN104
    print([gpu])  # expect: SYN107
    str([gpu, 1])  # expect: SYN107
    print([1, 2], n)  # silent
    torch.stack([gpu, gpu]), torch.cat([gpu, gpu])  # silent
    return gpu[1:n].sum()  # silent
