"""What is only called where waits are allowed may wait; a call elsewhere with something on the GPU takes that back."""

from contextlib import nullcontext
from typing import NamedTuple

import torch

import syncscan


def only_allowed(t):
    inner(t)
    return t.item()  # silent


def inner(t):
    return t.tolist()  # silent


def called_elsewhere(t):
    return t.item()  # expect: SYN101


def called_on_other_hardware(t):
    return t.item()  # silent


def run_on_xpu(t: torch.Tensor):
    return called_on_other_hardware(t)


def called_on_the_host(t):
    return t.item()  # silent


def never_allowed(n: int):
    return torch.ones(n, device="cuda").sum().item()  # expect: SYN101


class Record(NamedTuple):
    t: torch.Tensor


def called_with_no_record(t, record=None):
    return t.item()  # silent


class Base:
    def read(self, t):
        raise NotImplementedError


class Reader(Base):
    def read(self, t):
        return t.item()  # silent


def run(base: Base, captured: bool):
    gpu = torch.ones(1, device="cuda")
    with syncscan.allow_sync("read at the end"):
        only_allowed(gpu)
        called_elsewhere(gpu)
        called_on_other_hardware(gpu)
        called_on_the_host(gpu)
        base.read(gpu)
        called_with_no_record(gpu)
    with nullcontext() if captured else syncscan.allow_sync("read at the end"):
        only_allowed(gpu)
    called_elsewhere(gpu)
    called_on_the_host(torch.ones(1))
    called_with_no_record(torch.ones(1), Record(gpu) if captured else None)
    never_allowed(3)
