"""A context manager that swallows an exception may end a loop that has no end."""

import contextlib
import queue

import torch


def drained(waiting):
    t = torch.ones(4, device="cuda")
    with contextlib.suppress(queue.Empty):
        while True:
            waiting.get_nowait()
    return t.sum().item()  # expect: SYN101
