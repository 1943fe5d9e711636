"""What Python calls by itself in a step: makers of records, enters of contexts, calls of objects."""

from dataclasses import dataclass

import torch


@dataclass
class Batch:
    n: int

    def __post_init__(self):
        self.total = torch.ones(self.n, device="cuda").sum().item()  # expect: SYN101 (step)
        # reached: step > Batch.__post_init__


class Scope:
    def __enter__(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: step > Scope.__enter__

    def __exit__(self, *exc):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown) # todo: SYN101 (step)


class Unbound:
    def __enter__(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown) # todo: SYN101 (step)

    def __exit__(self, *exc):
        return None


class Op:
    def __call__(self, t):
        return t.item()  # expect: SYN101 (step)
        # reached: step > Op.__call__


@torch.inference_mode()
def step():
    Batch(4)
    with Scope() as scope, Unbound():
        scope.bit_length()
        Op()(torch.ones(1, device="cuda"))
