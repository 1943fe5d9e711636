"""Calls that Python would refuse are no defect of the check."""

import copy
import dataclasses
import functools
import itertools
import typing

import torch


def wrong():
    functools.partial(), copy.copy(), dataclasses.replace(), typing.cast(), getattr()
    list(), tuple(), set(), dict(), zip(), enumerate(), map(), max(), min(), sum(), next(), iter(), abs()
    slice(), sorted(), reversed(), itertools.chain.from_iterable(), range(), int(), str()
    torch.device(), torch.zeros(), torch.tensor(), torch.nn.Parameter(), torch.compile(), torch.where()
    torch.cuda.current_device(), torch.get_default_device()
    gpu = torch.ones(1, device="cuda")
    gpu.to(), gpu.cuda(), gpu.copy_(), gpu.view(), gpu.item(1, 2, 3)  # expect: SYN101
    print(*1, **2)
    return super().nothing()


@torch.no_grad
class Odd:
    super().__init__()

    def method():
        return super().method(torch.ones(1, device="cuda").item())  # expect: SYN101
