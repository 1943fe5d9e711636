"""A fallback for a left-out argument is silent if every call passes the argument."""

import torch


def longest(lens, lens_cpu=None):
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # silent
    return lens_cpu.max().item()  # silent


def shortest(lens, lens_cpu=None):
    if lens_cpu is not None:
        return lens_cpu.min().item()  # silent
    else:
        return lens.min().item()  # silent


def left_out(lens, lens_cpu=None):
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # expect: SYN105
    return lens_cpu


def spread(lens, lens_cpu=None):
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # expect: SYN105
    return lens_cpu


def passed_as_none(lens, lens_cpu=None):
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # expect: SYN105
    return lens_cpu


def asked_of_what_has_no_default(lens, lens_cpu):
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # expect: SYN105
    return lens_cpu


def asked_again(lens, lens_cpu=None):
    lens_cpu = None if len(lens) > 4 else lens_cpu
    if lens_cpu is None:
        lens_cpu = lens.cpu()  # expect: SYN105
    return lens_cpu


def called_by_nobody(lens: torch.Tensor, lens_cpu=None):
    if lens_cpu is None:
        lens_cpu = lens.cuda().cpu()  # expect: SYN105
    return lens_cpu


def asked_twice(lens, lens_cpu=None, fast=None):
    if lens_cpu is not None is not fast:
        return lens_cpu
    else:
        return lens.cpu()  # expect: SYN105


class Base:
    def longest(self, lens, lens_cpu=None):
        return 0


class Below(Base):
    def longest(self, lens, lens_cpu=None):
        if lens_cpu is None:
            lens_cpu = lens.cpu()  # expect: SYN105
        return lens_cpu


def forward(base: Base, **settings):
    lens, lens_cpu = torch.ones(4, device="cuda"), torch.ones(4)
    longest(lens, lens_cpu)
    longest(lens, lens_cpu=lens_cpu)
    shortest(lens, lens_cpu)
    left_out(lens, lens_cpu)
    left_out(lens)
    spread(lens, lens_cpu)
    spread(lens, **settings)
    passed_as_none(lens, lens_cpu if len(lens) else None)
    asked_of_what_has_no_default(lens, lens_cpu)
    asked_again(lens, lens_cpu)
    asked_twice(lens, lens_cpu)
    base.longest(lens, lens_cpu)
    Below().longest(lens, lens_cpu)


class Passed:
    """Each call passes None, or leaves the argument out."""

    def update(self, rows, repeats: torch.Tensor | None = None):
        if repeats is not None:
            found = repeats.cpu().tolist()  # silent
            return found
        return rows

    def refresh(self, rows, repeats: torch.Tensor | None = None):
        if repeats is not None:
            found = repeats.cpu().tolist()  # expect: SYN105
            return found
        return rows


class Passes:
    def __init__(self):
        self.passed = Passed()

    def run(self, given):
        self.passed.update([1], repeats=None)
        self.passed.update([1])
        self.passed.refresh([1], None)
        self.passed.refresh([1], given)


class Router(torch.nn.Module):
    def forward(self, x, mask=None):
        return x if mask is None else x[mask > 0]  # expect: SYN201


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x, mask=None):
        return self.router(x, mask)


def serve(model: Model):
    model(torch.ones(4, device="cuda"))
