"""The number of dimensions of a factory decides what a store is: a fill, or the upload of a number."""

import torch


def run(n: int, sizes: list[int]):
    torch.zeros(n, device="cuda")[0] = 1.0  # expect: SYN306
    torch.zeros(n, 4, device="cuda")[0] = 1.0  # silent: a row is filled
    torch.zeros((n,), device="cuda")[0] = 1.0  # expect: SYN306
    torch.zeros((n, 4), device="cuda")[0] = 1.0  # silent
    torch.zeros([n, 4], device="cuda")[0, 1] = 1.0  # expect: SYN306
    torch.zeros(sizes, device="cuda")[0] = 1.0  # silent: its dimensions are not known
    torch.zeros(n, 2, 3, device="cuda")[0, 1] = 1.0  # silent
    torch.full((), 0, device="cuda")[()] = 1.0  # expect: SYN306
    torch.tensor([1, 2], device="cuda")[0] = 1.0  # expect: SYN301, SYN306
    torch.tensor([[1, 2]], device="cuda")[0] = 1.0  # expect: SYN301
    rows = torch.zeros((4, 4), device="cuda")
    rows[0][1] = 1.0  # expect: SYN306
    rows[0, None, 1] = 1.0  # silent
    rows[:, 0][1] = 1.0  # expect: SYN306
    rows.view(-1)[0] = 1.0  # expect: SYN306
    rows[torch.arange(2, device="cuda"), 0] = 1.0  # expect: SYN306
    rows[torch.arange(2, device="cuda"), torch.arange(2, device="cuda")] = rows[0, :2]  # silent
    for row in rows:
        row[0] = 1.0  # expect: SYN306
    for row in rows[0]:
        row[...] = 1.0  # silent
    like = torch.zeros_like(rows)
    like[0] = 1.0  # silent
    like[0, 0] = 1.0  # expect: SYN306


def sizes(x: torch.Tensor, y: torch.Tensor):
    gpu = torch.zeros((3, 3), device="cuda")
    whole = torch.Size([gpu.shape[0], 3])
    if whole[-2:] != torch.Size([1, 1]):  # silent: sizes are numbers
        return gpu.expand(*torch.broadcast_shapes(x.shape, gpu.shape))  # silent
    return torch.zeros(whole[0], device="cuda")  # silent
