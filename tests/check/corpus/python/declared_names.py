"""A name may be declared before it is bound."""

import torch
from backend import lease


class Batch:
    def __init__(self):
        self.t = torch.ones(1, device="cuda")


def run(n: int):
    batch: Batch
    if n > 1:
        batch = lease()
    batch.t.item()  # expect: SYN101
    if n:
        other: Batch = lease()
        other.t.item()  # expect: SYN101
    rows: list[Batch] = []
    rows[0].t.item()  # expect: SYN101
    table: dict[str, Batch] = {}
    return table["a"].t.item()  # expect: SYN101
