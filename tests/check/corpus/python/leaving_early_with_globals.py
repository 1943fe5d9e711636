"""Behind branches that all leave nothing runs, also where the names are the module's."""

import contextlib

import torch

T = torch.ones(1, device="cuda")


def both(flag: bool):
    if flag:
        return 1
    else:
        raise ValueError
    T.item()  # silent


def looped(flag: bool):
    while True:
        if flag:
            return 1
    T.item()  # silent


def suppressed():
    t = torch.ones(1, device="cuda")
    with contextlib.suppress(ValueError):
        t = t.to("cpu", non_blocking=True)
    return t.item()  # expect: SYN101


def matched(kind: int):
    match kind:
        case 1:
            return 1
        case _:
            return 2
    T.item()  # false: SYN101
