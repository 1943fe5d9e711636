"""`getattr` with a computed name reads the members of an object that begin and end as the name does."""

import torch


class Dispatch:
    def __init__(self, kind):
        self.kind = kind
        self.left_total = torch.zeros((), device="cuda")
        self.right_total = torch.zeros((), device="cuda")
        self.size_count = 3

    def run(self, x):
        method = getattr(self, f"_run_{self.kind}")
        method(x.cuda())  # expect: SYN302
        getattr(self, "_by_" + self.kind)(torch.ones(3, device="cuda"))

    def _run_fast(self, x):
        return x.sum().item()  # expect: SYN101

    def _run_slow(self, x):
        return x.tolist()  # expect: SYN102

    def _by_rows(self, x):
        return x.sum().item()  # expect: SYN101

    def _unrelated(self, x):
        return x.sum().item()  # silent

    def total(self, side):
        return getattr(self, f"{side}_total").item()  # expect: SYN101

    def count(self, side):
        return float(getattr(self, f"{side}_count"))  # silent

    def anything(self, name):
        return getattr(self, f"{name}")  # silent


def of_one_or_none(found, side):
    dispatch = Dispatch("fast") if found else None
    return getattr(dispatch, f"{side}_total").item()  # expect: SYN101


Dispatch("fast").run(torch.zeros(3))
