"""A module holds on the host what it puts into its containers, one by one, or adds under a name."""

import torch
from torch import nn


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(3):
            self.layers.append(nn.Linear(2, 2))


class Extended(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([])
        self.layers.extend([nn.ReLU(), nn.Linear(2, 2)])


class Keyed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict()
        self.layers["first"] = nn.Linear(2, 2)


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("layer", nn.Linear(2, 2))

    def forward(self, x: torch.Tensor):
        return self.layer(x).max().item()  # expect: SYN101


class Set(nn.Module):
    def __init__(self):
        super().__init__()
        for number in range(3):
            setattr(self, f"layer{number}", nn.Linear(2, 2))


class OnTheGpu(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        self.layers.append(nn.Linear(2, 2, device="cuda"))


class WithoutParameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        self.layers.append(nn.ReLU())


def run():
    Listed().cuda()  # expect: SYN302
    Extended().cuda()  # expect: SYN302
    Keyed().cuda()  # expect: SYN302
    Added().cuda()  # expect: SYN302
    Set().cuda()  # expect: SYN302
    OnTheGpu().cuda()  # silent
    WithoutParameters().cuda()  # silent
