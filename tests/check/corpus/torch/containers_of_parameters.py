"""Parameters in a container move with the module that has it, and so do those that a module keeps under computed names."""

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(4)) for _ in range(count)])
        self.scales = nn.ParameterDict({})
        self.names = []

    def read(self, name, number):
        for weight in self.weights:
            weight.tolist()  # expect: SYN102
        for weight in self.scales.values():
            weight.tolist()  # expect: SYN102
        for _, weight in self.scales.items():
            weight.tolist()  # expect: SYN102
        for weight in self.weights.parameters():
            weight.tolist()  # expect: SYN102
        if isinstance(self.weights, (list, tuple)):
            return None
        self.names[number].tolist()  # silent
        self.scales[name].tolist()  # expect: SYN102
        return self.weights[number].tolist()  # expect: SYN102

    def by_name(self, name):
        self._buffers[name].tolist()  # expect: SYN102
        self._parameters[name].tolist()  # expect: SYN102
        self._modules[name].tolist()  # silent
        self.get_buffer(name).tolist()  # expect: SYN102
        return self.get_parameter(name).tolist()  # expect: SYN102


class Grown(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList()

    def grow(self):
        self.weights.append(torch.zeros(4))

    def forward(self, x):
        return x * self.weights[0].item()  # expect: SYN101


class Shared(nn.Module):
    """The tensor is the module's, but is not registered again where it is shared."""

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "lookup", torch.zeros(4, device="cuda"))
        super().__setattr__("count", torch.zeros((), device="cuda"))

    def forward(self, x):
        x = x + self.count.item()  # expect: SYN101
        return x * self.lookup[0].item()  # expect: SYN101


def back(count):
    experts = Experts(count)
    experts.weights.cpu()
    return experts.weights[0].tolist()  # silent


class Settings:
    def __init__(self, size):
        self._buffers = {"size": size}

    def read(self):
        return self._buffers["size"].tolist()  # silent
