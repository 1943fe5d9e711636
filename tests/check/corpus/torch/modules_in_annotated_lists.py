from typing import List

import torch
from torch import nn


class Layers(nn.Sequential):
    def __init__(self, sizes: List[int]):
        parts: List[nn.Module] = []
        for before, after in zip(sizes[:-1], sizes[1:]):
            parts += [nn.Linear(before, after), nn.ReLU()]
        super().__init__(*parts)


def run():
    layers = Layers([4, 8]).to("cuda")  # expect: SYN302
    return layers(torch.ones(4, device="cuda"))
