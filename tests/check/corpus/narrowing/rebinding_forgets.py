"""What was known of a path is forgotten where something before it is bound again."""

import torch


class Holder:
    def __init__(self, t):
        self.t = t


def run():
    holder = Holder(torch.ones(1))
    holder.t = torch.ones(1, device="cuda")
    holder.t.item()  # expect: SYN101
    table = {"a": torch.ones(1)}
    table["a"].item()  # silent
    table["a"] = torch.ones(1, device="cuda")
    table["a"].item()  # expect: SYN101
    table = {"a": torch.ones(1)}
    table["a"].item()  # silent
    del table["a"]
    return holder
