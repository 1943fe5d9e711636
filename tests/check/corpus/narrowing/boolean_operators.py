"""`and` and `or` narrow their later operands; a failed `or` denies each part."""

import torch


def run(rows=None, more=None):
    if rows is None or rows.sum() > 1:  # expect: SYN104
        return 1
    if rows is not None and more is not None:
        more.item()  # expect: SYN101
    if rows is None or more is None:
        return 2
    more.item()  # expect: SYN101
    chosen = rows is not None and rows.max().item()  # expect: SYN101
    flag = rows.is_cpu or rows.item()  # expect: SYN101
    return chosen, flag


run(torch.ones(4, device="cuda"), torch.ones(4, device="cuda"))
run()
