"""A context manager that swallows an exception may end a loop that has no end, or any statement before its last."""

import contextlib
import queue

import torch


def drained(waiting):
    t = torch.ones(4, device="cuda")
    with contextlib.suppress(queue.Empty):
        while True:
            waiting.get_nowait()
    return t.sum().item()  # expect: SYN101


def made_anew(waiting):
    n = torch.ones(4, device="cuda").sum()
    with contextlib.suppress(ValueError):
        n = torch.ones(len(waiting))
    return n.item()  # expect: SYN101


def surely_made_anew(waiting):
    n = torch.ones(4, device="cuda").sum()
    with contextlib.nullcontext():
        n = torch.ones(len(waiting))
    return n.item()
