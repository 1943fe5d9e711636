"""A new module may be on the GPU where the project sets a default device."""

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
