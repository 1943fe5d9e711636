"""What is known of attributes and items on one path only is forgotten where the paths meet."""

import torch


class Holder:
    def __init__(self):
        self.t = torch.ones(1)


def run(flag: bool, holder: Holder):
    if flag:
        holder.t = torch.ones(1, device="cuda")
        holder.t.item()  # expect: SYN101 (proved)
    holder.t.item()  # expect: SYN101 (inferred)
    if flag:
        made = torch.ones(1, device="cuda")
    made.item()  # expect: SYN101
    table = {}
    if flag:
        table["a"] = torch.ones(1, device="cuda")
    return table["a"].item()  # expect: SYN101
