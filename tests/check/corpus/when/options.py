"""A line behind an option that is off by default runs per step only if a user turns the option on."""

from dataclasses import dataclass, field

import torch
from torch import nn


class EnvFlag:
    def __init__(self, default):
        self.default = default

    def get(self):
        return self.default


class Envs:
    ORACLE = EnvFlag(False)
    FAST = EnvFlag(True)


@dataclass
class Settings:
    check_finite: bool = False
    keep_ids: bool = field(default=False)
    fused: bool = True
    sampled: bool = False
    is_first: bool = False
    by_key: bool = False
    by_name: bool = False
    asked: bool = False
    copied: bool = False
    fallback: bool = False


@dataclass
class Progress:
    finished: bool = False
    count: int = 0


@dataclass
class Batch:
    ids: torch.Tensor
    masked: bool = False


class Other:
    copied: bool = field(default=True)

    @property
    def asked(self):
        return self.copied


envs = Envs()
by_key = {"by_key": True}
setattr(envs, "by_name", True)
sampling = Settings(sampled=True)


class Runner(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.keep_ids = settings.keep_ids
        self.progress = Progress()

    def forward(self, batch: Batch):
        x = batch.ids.cuda()
        if self.settings.check_finite:
            x.any().item()  # expect: SYN101 (unknown)
        if self.keep_ids and x.dim() > 1:
            x.any().item()  # expect: SYN101 (unknown)
        if self.keep_ids or x.dim() > 1:
            x.any().item()  # expect: SYN101 (step)
        if getattr(self.settings, "check_finite", False):
            x.any().item()  # expect: SYN101 (unknown)
        if self.settings.fused:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.sampled:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.is_first:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.by_key:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.by_name:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.asked:
            x.any().item()  # expect: SYN101 (step)
        if self.settings.copied:
            x.any().item()  # expect: SYN101 (step)
        if getattr(self.settings, "fallback", True):
            x.any().item()  # expect: SYN101 (step)
        if self.settings.check_finite:
            self.both(x)
            self.handed(x)
        if self.settings.fused:
            self.both(x)
        helper = self.handed
        helper(x)
        self.progress.finished = self.progress.count > 3
        if self.progress.finished:
            x.any().item()  # expect: SYN101 (step)
        if batch.masked:
            x.any().item()  # expect: SYN101 (step)
        if envs.ORACLE.get():
            self.compare(x)
            self.report(x)
        if envs.FAST.get():
            x.any().item()  # expect: SYN101 (step)
        self.report(x)
        return self.trim(x)

    def both(self, x):
        return x.any().item()  # expect: SYN101 (step)

    def handed(self, x):
        return x.any().item()  # expect: SYN101 (step)

    def compare(self, x):
        self.below(x)
        return x.any().item()  # expect: SYN101 (unknown)

    def below(self, x):
        return x.any().item()  # expect: SYN101 (unknown)

    def report(self, x):
        return x.any().item()  # expect: SYN101 (step)

    def trim(self, x):
        if not self.settings.check_finite:
            return x
        return x.any().item()  # expect: SYN101 (unknown)
