"""Of the operands of one operation what is surest of one holds for all: they are on one device."""

import torch


def compare(t: torch.Tensor, y: torch.Tensor):
    t.sum().item()  # expect: SYN101 (assumed)
    gpu = torch.ones(4, device="cuda")
    if t.sum() == gpu.sum():  # expect: SYN104 (proved)
        return 1
    return (t + gpu).sum().item()  # expect: SYN101 (proved)


def pick(outputs, rows: list, index: int):
    """What a mask on the GPU picks of something is on the GPU; a list takes a number from there too."""
    mask = torch.zeros(4, device="cuda") > index
    picked = outputs.last[mask]  # expect: SYN201
    picked.mean().item()  # expect: SYN101
    outputs.rows[mask.sum()].item()  # silent: it may be a list
    outputs.other[torch.zeros(4) > index].mean().item()  # expect: SYN101 (assumed)
    return outputs.last[mask.nonzero()[:, 0]].item()  # expect: SYN101, SYN202
