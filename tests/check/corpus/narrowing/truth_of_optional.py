"""A value that is tested for its truth is not None where the test holds."""

import torch


def find(n: int):
    return torch.ones(n, device="cuda") if n else None


def run(n: int):
    found = find(n)
    if found:  # expect: SYN104
        found.tolist()  # expect: SYN102
    if not (kept := find(n)):  # expect: SYN104
        return None
    return kept.tolist()  # expect: SYN102
