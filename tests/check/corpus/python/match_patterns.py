"""Patterns within patterns bind what they stand for."""

import torch


def run(kind):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    match (host, gpu):
        case (a, b) as whole:
            a.item()  # silent
            b.item()  # expect: SYN101
            whole[1].item()  # expect: SYN101
    match (host, gpu):
        case (c, _) | (_, c):
            c.item()  # expect: SYN101
    match [0, 1]:
        case [0, *others]:
            torch.zeros(4, device="cuda")[others]  # expect: SYN305
    match kind:
        case {"a": a, **rest}:
            return rest
        case None:
            return a.item()  # silent
        case str():
            return b.item()  # expect: SYN101
    match gpu:
        case None:
            return None
        case t if t.sum() > 1 and t is not None:  # expect: SYN104
            return t.item()  # expect: SYN101
        case other:
            return other.item()  # expect: SYN101
