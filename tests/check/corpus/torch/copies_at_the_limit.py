"""A copy that need not block is small up to 2 MiB, whatever the dtype may be that the source does not say."""

import torch


def run():
    torch.zeros(131072).to("cuda", non_blocking=True)  # silent
    torch.zeros(131073).to("cuda", non_blocking=True)  # expect: SYN303
