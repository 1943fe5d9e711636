"""Lines behind a flag that is off in the whole project: no step reaches them before somebody turns the flag on."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, checks=False, fused=True, mixed=False):
        super().__init__()
        self.checks = checks
        self.fused = fused
        self.mixed = mixed
        self.late = False

    def enable(self):
        self.late = True

    def forward(self, x: torch.Tensor, cached=False):
        if self.checks:
            x.any().item()  # expect: SYN101 (unknown)
        if self.checks and x.dim() > 1:
            x.any().item()  # expect: SYN101 (unknown)
        if self.checks or x.dim() > 1:
            x.any().item()  # expect: SYN101 (step)
        if not self.checks:
            x.any().item()  # expect: SYN101 (step)
        if self.mixed:
            x.any().item()  # expect: SYN101 (step)
        if self.late:
            x.any().item()  # expect: SYN101 (step)
        if self.training:
            x.any().item()  # expect: SYN101 (step)
        if cached:
            x.any().item()  # expect: SYN101 (unknown)
        elif self.checks:
            x.any().item()  # expect: SYN101 (unknown)
        else:
            x.any().item()  # expect: SYN101 (step)
        return self.attend(x)

    def attend(self, x):
        if self.fused:
            return x
        for row in x:
            row.any().item()  # expect: SYN101 (unknown)
        return x.any().item()  # expect: SYN101 (unknown)


layers = Layer(), Layer(mixed=True)
for layer in layers:
    layer(torch.ones(1, 2, device="cuda"))


def norm_of(x: torch.Tensor, norm_type=2, reduction="mean"):
    norm_type = float(norm_type)
    if norm_type == float("inf"):
        x.max().item()  # expect: SYN101 (unknown)
    else:
        x.norm().item()  # expect: SYN101 (step)
    if norm_type in (1, 2):
        x.norm().item()  # expect: SYN101 (step)
    if reduction not in ("mean", "sum"):
        x.max().item()  # expect: SYN101 (unknown)


def clipped(x: torch.Tensor, norm_type=2, limit=1):
    limit = limit + 1
    if norm_type == float("inf"):
        x.max().item()  # expect: SYN101 (step)
    if limit == 3:
        x.max().item()  # expect: SYN101 (step)


def passed_on(x: torch.Tensor, norm_type="l2"):
    if norm_type == "inf":
        x.max().item()  # expect: SYN101 (step)


def converted(x: torch.Tensor, p=0, q=0):
    p = str(p)
    if p == "0":
        x.max().item()  # expect: SYN101 (step)
    try:
        x = x + 1
    except RuntimeError as q:
        x = x + 2
    if q == 3:
        x.max().item()  # expect: SYN101 (step)


def counted(function):
    return lambda x: function(x, 3)


@counted
def wrapped(x: torch.Tensor, p=0):
    if p == 3:
        x.max().item()  # expect: SYN101 (step)


class Trainer:
    def training_step(self, batch, settings):
        x = batch.cuda()
        norm_of(x)
        converted(x)
        wrapped(x)
        clipped(x, norm_type=settings)
        clipped(x)
        passed_on(x, settings.norm_type)
        passed_on(x)


class Solver(nn.Module):
    def forward(self, x: torch.Tensor):
        self._flip(x, by_rows=False)
        self.flip(x, by_rows=False)
        return x

    def _flip(self, x, by_rows=True):  # no code outside the project calls it
        if by_rows:
            x.max().item()  # expect: SYN101 (unknown)
        else:
            x.min().item()  # expect: SYN101 (step)

    def flip(self, x, by_rows=True):
        if by_rows:
            x.max().item()  # expect: SYN101 (step)


Solver()(torch.ones(1, 2, device="cuda"))


class Prior(nn.Module):
    def __init__(self, by_rank: bool = False, soft: bool = False, loud: bool = True):
        super().__init__()
        self.by_rank = by_rank
        self.soft = soft
        self.loud = loud

    def forward(self, x: torch.Tensor):
        if self.by_rank:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.soft:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.loud:
            x.sum().item()  # expect: SYN101 (step)
        if not self.loud:
            x.sum().item()  # expect: SYN101 (step)
        return x


class Head(nn.Module):
    def __init__(self, by_rank: bool = False):
        super().__init__()
        self.prior = Prior(by_rank=by_rank)

    def forward(self, x: torch.Tensor, flag: bool = False, other: bool = False):
        if flag:
            x.sum().item()  # expect: SYN101 (unknown)
        if other:
            x.sum().item()  # expect: SYN101 (step)
        return self.prior(x)

    def of_others(self, x, settings):
        self.forward(x, other=settings.other)
        return Prior(loud=True), Prior(loud=settings.loud)
