"""What a try began may have happened in its handlers, its else and its finally."""

import torch


def run():
    t = torch.ones(1)
    try:
        t = torch.ones(1, device="cuda")
        risky()
    except ValueError as error:
        t.item()  # expect: SYN101
        error.item()  # silent
        t = torch.ones(1)
    else:
        t.item()  # expect: SYN101
    t.item()  # expect: SYN101 (inferred)


def handled():
    t = torch.ones(1, device="cuda")
    try:
        t = t.to("cpu", non_blocking=True)
    except RuntimeError:
        return None
    finally:
        done()
    t.item()  # silent


def all_leave():
    t = torch.ones(1, device="cuda")
    try:
        return risky()
    except RuntimeError:
        raise
    t.item()  # silent


def risky(): ...


def done(): ...
