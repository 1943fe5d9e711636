"""`.to("cuda")` of something unknown: a tensor, a module, a batch."""

import torch


def run(batch, name, device):
    moved = batch.to("cuda")
    moved.sum().item()  # expect: SYN101
    moved.item()  # expect: SYN101
    detached = moved.detach().view(-1)
    detached.tolist()  # expect: SYN102
    moved.cpu()  # silent: of a module it is not known what that copies
    back = moved.cpu()  # expect: SYN105
    back.tolist()  # silent
    halved = (moved / 2).tolist()  # expect: SYN102
    rows = torch.ones(4)[moved > 0]  # silent: an index on the GPU, of a tensor of the host
    torch.ones(4, device="cuda")[moved > 0]  # expect: SYN201
    anywhere = batch.to(device)
    anywhere.sum().item()  # expect: SYN101 (inferred)
    batch.to(name).sum().item()  # silent: it may be a dtype
    half = batch.half()
    half.sum().item()  # silent
    named = batch.to(device="cuda")
    return halved, rows, torch.relu(named).tolist(), name  # expect: SYN102
