"""Dictionaries and sets hold what was put into them."""

from collections import defaultdict, deque

import torch


def run(name: str):
    gpu = torch.ones(4, device="cuda")
    table = {}
    table[name] = gpu
    table["a"].tolist()  # expect: SYN102
    table.get(name).tolist()  # expect: SYN102
    table.get(name, torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    for value in table.values():
        value.tolist()  # expect: SYN102
    for key, value in table.items():
        key.item()  # silent
        value.tolist()  # expect: SYN102
    table.pop(name).tolist()  # expect: SYN102
    table.setdefault(name, gpu).tolist()  # expect: SYN102
    merged = {**table, "b": gpu}
    merged["b"].tolist()  # expect: SYN102
    other = dict(a=gpu)
    other["a"].tolist()  # expect: SYN102
    other.update({"c": torch.ones(4, device="cuda")})
    for member in {gpu}:
        member.tolist()  # expect: SYN102
    seen = set()
    seen.add(gpu)
    seen.pop().tolist()  # expect: SYN102
    for key in table:
        key.item()  # silent
