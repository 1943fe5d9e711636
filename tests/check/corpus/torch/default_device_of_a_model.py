"""Models that are made under a default device have their tensors there."""

import torch
from torch import nn


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.zeros(3)

    def forward(self):
        return self.rows.tolist()  # expect: SYN102


def load(device):
    with torch.device(device):
        return Table()
