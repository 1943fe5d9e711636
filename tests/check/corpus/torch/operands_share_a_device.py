"""Of the operands of one operation what is surest of one holds for all: they are on one device."""

import torch


def compare(t: torch.Tensor, y: torch.Tensor):
    t.sum().item()  # expect: SYN101 (assumed)
    gpu = torch.ones(4, device="cuda")
    if t.sum() == gpu.sum():  # expect: SYN104 (proved)
        return 1
    return (t + gpu).sum().item()  # expect: SYN101 (proved)
