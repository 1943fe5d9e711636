"""Where a default device may be the GPU, a new module may be there."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


def build():
    with torch.device("cuda"):
        return Block()


def setup():
    build().to("cuda")  # silent
    Block().to("cuda")  # silent: `__init__` runs with and without the default
    nn.Linear(4, 4).to("cuda")  # silent
