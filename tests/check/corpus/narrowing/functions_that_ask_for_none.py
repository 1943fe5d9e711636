"""A function of the project that only asks whether its argument is None tells as much as the test itself."""

import torch


def exists(value):
    return value is not None


def missing(value):
    """Return whether there is no value."""
    return value is None


def odd(value):
    value = print(value)
    return value is not None


def generate(net, end=None):
    out = net(torch.ones(3, 3, device="cuda")).cuda()
    if not exists(end):
        return out
    hit = out == end
    if hit.any(dim=-1).all():  # expect: SYN104
        return out[:1]
    return out


def generate_or_leave(net, end=None):
    out = net(torch.ones(3, 3, device="cuda")).cuda()
    if missing(end):
        return out
    hit = out == end
    if hit.any(dim=-1).all():  # expect: SYN104
        return out[:1]
    return out


def perhaps(net, end=None):
    out = net(torch.ones(3, 3, device="cuda")).cuda()
    if not odd(end):
        return out
    hit = out == end
    if hit.any(dim=-1).all():  # silent
        return out[:1]
    return out


def inside(x=None):
    y = torch.ones(3, device="cuda") if missing(x) else x
    return y.tolist()  # expect: SYN102


class Held:
    def __init__(self):
        self.held = None

    def load(self):
        self.held = torch.ones(3, device="cuda")

    def read(self):
        if not exists(self.held):
            self.load()
            self.held.tolist()  # expect: SYN102

    def compare(self, x):
        if exists(self.held):
            if (self.held == x.cuda()).all():  # expect: SYN104
                return x
        return None
