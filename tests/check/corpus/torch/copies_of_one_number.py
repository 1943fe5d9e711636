"""A copy that need not block does not wait where it is of a single number, which is staged; one that blocks does."""

import torch


def run(values: list[int]):
    torch.tensor(3).to("cuda", non_blocking=True)  # silent
    torch.zeros(()).cuda(non_blocking=True)  # silent
    torch.tensor(values).to("cuda", non_blocking=True)  # expect: SYN303
    torch.tensor(3).to("cuda")  # expect: SYN302
