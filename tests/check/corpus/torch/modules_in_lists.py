from typing import List

import torch
from torch import nn
from torch.nn.utils import weight_norm


class Layers(nn.Sequential):
    def __init__(self, sizes: List[int]):
        parts: List[nn.Module] = []
        for before, after in zip(sizes[:-1], sizes[1:]):
            parts += [nn.Linear(before, after), nn.ReLU()]
        super().__init__(*parts)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(weight_norm(nn.Conv1d(1, 1, 1)) for _ in range(3))


def run():
    Normed().to("cuda")  # expect: SYN302
    layers = Layers([4, 8]).to("cuda")  # expect: SYN302
    return layers(torch.ones(4, device="cuda"))
