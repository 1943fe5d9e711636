"""A flag is known on the other side of a call; of a number only that it is one, for others may pass others."""

import torch


def few(count):
    torch.zeros(count).to("cuda", non_blocking=True)  # expect: SYN303


def goes_on(flag):
    torch.zeros(4).to("cuda", non_blocking=flag)  # silent


def waits(flag):
    torch.zeros(4).to("cuda", non_blocking=flag)  # expect: SYN302


def both(flag):
    torch.zeros(4).to("cuda", non_blocking=flag)  # silent


few(4)
goes_on(True)
waits(False)
both(True)
both(False)
