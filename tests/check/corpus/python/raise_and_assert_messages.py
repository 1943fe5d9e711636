"""The text of an error may wait: the program ends there. The test of an assertion runs always."""

import torch


def guard(strict: bool, n: int):
    error = torch.ones(4, device="cuda").sum()
    assert n > 0, f"off by {error.item()}"  # silent
    if strict:
        raise ValueError(f"off by {error}, at most {error.max().item()}")  # silent
    assert error < 1, "too far off"  # expect: SYN104 `error < 1`


def describe(t):
    return f"{t.item()} is too much"  # false: SYN101


def refuse(n: int):
    raise ValueError(describe(torch.ones(1, device="cuda")), n)
