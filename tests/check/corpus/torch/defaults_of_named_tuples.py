"""A field that a caller leaves out has the default of its class, which is made on the host."""

from typing import NamedTuple

import torch


class Settings(NamedTuple):
    reset: torch.Tensor = torch.as_tensor(0.0)
    steps: int = 3


def start(x: torch.Tensor, settings: Settings = Settings()):
    x = torch.ones(2, device="cuda")
    return settings.reset.to(x.device)  # expect: SYN302


def known(x: torch.Tensor):
    settings = Settings(steps=4)
    return settings.reset.item()  # silent
