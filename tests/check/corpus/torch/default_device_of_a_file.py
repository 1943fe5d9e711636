"""`torch.set_default_device` places what names no device: from there on, and in the functions of its file."""

import torch
from torch import nn

torch.set_default_device("cuda")


def made():
    torch.zeros(3, device="cpu").tolist()  # silent
    return torch.zeros(3).tolist()  # expect: SYN102 (inferred)


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.zeros(3)

    def forward(self):
        return self.rows.tolist()  # expect: SYN102
