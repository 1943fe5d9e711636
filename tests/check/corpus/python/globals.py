"""A global is what any function makes it that declares it; another's local of that name is none."""

import torch

buf = torch.zeros(3)
made = None
host = None


def setup():
    global buf, made, host
    buf = torch.zeros(3, device="cuda")
    made = torch.zeros(3, device="cuda")
    host = torch.zeros(3)


def other():
    buf = torch.zeros(3)
    host = torch.zeros(3, device="cuda")
    buf.item()  # silent
    return host


def step():
    buf.item()  # expect: SYN101
    host.item()  # silent
    declared_by_setup_late.item()  # expect: SYN101
    if made is not None:
        made.item()  # expect: SYN101


def setup_late():
    global declared_by_setup_late
    declared_by_setup_late = torch.zeros(3, device="cuda")
