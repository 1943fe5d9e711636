"""`type_as` and `to(other)` go where the other tensor is, and become of its dtype."""

import torch


def run():
    gpu = torch.ones(8, device="cuda")
    mask = gpu > 0
    torch.ones(4).type_as(gpu).tolist()  # expect: SYN302, SYN102
    gpu.type_as(torch.ones(4)).tolist()  # expect: SYN105
    gpu[mask.to(gpu.long())]  # silent: an index
    gpu[mask.to(mask)]  # expect: SYN201
    gpu[gpu.to(mask)]  # expect: SYN201
    gpu[gpu.long().to("cuda")]  # silent
    return gpu[mask.to("cuda", torch.int64)]  # silent: an index
