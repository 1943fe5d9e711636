"""A parameter is None where calls leave it out and none passes a value; with no device, a tensor stays in host memory."""

from typing import Optional

import numpy as np
import torch


def tables(n):
    return torch.from_numpy(np.load(f"tables_{n}.npy"))


def spectrum(n, device: Optional[str] = None):
    audio = tables(n)
    if device is not None:
        audio = audio.to(device)  # silent
    filters = tables(3).to(audio.device)  # silent
    return (filters @ audio).tolist()  # silent


def by_truth(n, device=None):
    x = tables(n)
    if device and n > 3:
        x = x.to(device)  # silent
    if not device:
        return x.tolist()  # silent
    return x.to(device)


def made(n, device: Optional[torch.device] = None):
    return torch.zeros(n, device=device).tolist()  # silent


class Average:
    def __init__(self, device=None):
        self.device = device
        self.steps = torch.tensor(0, device=device)  # silent

    def update(self):
        if self.device is not None:
            self.steps = self.steps.to(self.device)
        return self.steps.item()  # false: SYN101


def passed(n, device: Optional[str] = None):
    x = tables(n)
    if device is not None:
        x = x.to(device)  # expect: SYN302
    return x


def passed_with_others(n, device: Optional[str] = None):
    x = tables(n)
    if device is not None:
        x = x.to(device)  # expect: SYN302
    return x


def passed_unknown(n, device: Optional[str] = None):
    return torch.zeros(n, device=device).tolist()  # expect: SYN102


def called_by_nobody(n, device: Optional[str] = None):
    return torch.zeros(n, device=device).tolist()  # expect: SYN102


def in_a_loop(n, device: Optional[str] = None):
    x = tables(n)
    while device is not None:
        x = x.to(device)  # silent
    return x


def masked(x: torch.Tensor, mask: Optional[torch.Tensor] = None):
    y = torch.nonzero(x)  # expect: SYN202
    if mask is not None:
        return mask.any().item()  # silent
    return y


class Base:
    def zeros(self, n, device: Optional[str] = None):
        return []


class Below(Base):
    def zeros(self, n, device: Optional[str] = None):
        return torch.zeros(n, device=device).tolist()  # expect: SYN102


class Beside(Base):
    def zeros(self, n, device: Optional[str] = None):
        return torch.zeros(n).tolist()


def through(base: Base, n, settings):
    Below().zeros(n)
    return base.zeros(n, device=settings.device)


def run(n, settings, **more):
    spectrum(n)
    by_truth(n)
    made(n)
    Average().update()
    passed(n)
    passed(n, device="cuda")
    passed_with_others(n)
    passed_with_others(n, **more)
    passed_unknown(n)
    passed_unknown(n, settings.device)
    in_a_loop(n)
    masked(torch.ones(3, device="cuda"))
