"""A constant that a function returns, or an attribute holds, is still the constant."""

import torch


def asynchronous():
    return True


def blocking():
    return False


class Settings:
    pin = True
    wait = False

    def __init__(self):
        self.both = False
        self.pinned = torch.ones(4, pin_memory=self.pin)

    def toggle(self):
        self.both = True

    def upload(self):
        self.pinned.to("cuda", non_blocking=self.both)  # silent: it may be either
        self.pinned.to("cuda", non_blocking=self.pin)  # silent
        return self.pinned.to("cuda", non_blocking=self.wait)  # expect: SYN302


def run(rank: int):
    pinned = torch.ones(4, pin_memory=True)
    pinned.to("cuda", non_blocking=asynchronous())  # silent
    pinned.to("cuda", non_blocking=blocking())  # expect: SYN302
    torch.zeros(4, device=rank).tolist()  # expect: SYN102
    torch.zeros(4, device=rank % 8).tolist()  # expect: SYN102
    torch.zeros(4, device=rank + 1).tolist()  # expect: SYN102
    return torch.zeros(4, device=2.5).tolist()  # silent
