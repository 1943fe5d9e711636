"""A device that callers name in several forms is the place that all of them name."""

from typing import Union

import torch


class Metric:
    def __init__(self, device: Union[str, torch.device] = torch.device("cpu")):
        self.device = torch.device(device)

    def update(self, found):
        seen = torch.ones(3, device="cuda")
        self.seen = seen.to(self.device)  # expect: SYN105
        self.count = torch.tensor(0, device=self.device)  # silent

    def value(self):
        return self.seen.sum().item()  # silent


class Ratio(Metric):
    def __init__(self, device: Union[str, torch.device] = torch.device("cpu")):
        super().__init__(device=device)


class Combined(Metric):
    def __init__(self):
        super().__init__(device="cpu")


def place(name):
    where = "cuda" if name else torch.device("cuda", 1)
    return torch.device(where)


torch.ones(3, device=place(1)).item()  # expect: SYN101


def either(name):
    where = "cuda" if name else torch.device("cpu")
    return torch.ones(3, device=torch.device(where)).item()  # expect: SYN101 (inferred)
