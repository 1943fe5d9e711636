"""`type[X]` is a class, and `__init_subclass__` gets one."""

from typing import Type

import torch

KINDS: dict[str, Type["Sampler"]] = {}


class Sampler:
    def __init_subclass__(cls, name: str):
        KINDS[name] = cls

    def sample(self, x):
        return x


class Slow(Sampler, name="slow"):
    def sample(self, x):
        return x.sum().item()  # expect: SYN101


class Reader:
    def read(self, x):
        return x.tolist()  # expect: SYN102


def read(kind: type[Reader]):
    return kind().read(torch.zeros(3, device="cuda"))


def run(name):
    sampler = KINDS[name]()
    sampler.sample(torch.zeros(3, device="cuda"))


def of_anything(kind: type, x: torch.Tensor):
    return kind().read(x)  # silent
