"""A copy that need not block returns at once where its source is seen to be small, and no one knows otherwise."""

import torch


def run(n: int, rows: list[int], flag: bool):
    torch.tensor([[0, 1, 2], [3, 4, 5]]).to("cuda", non_blocking=True)  # silent
    select = torch.tensor([0, 1, 2], dtype=torch.long)
    select.to(device="cuda", non_blocking=True)  # silent
    select[1:].to("cuda", non_blocking=True)  # silent
    torch.zeros(4, 4).to("cuda", non_blocking=True)  # silent
    torch.zeros((4, 4)).cuda(non_blocking=True)  # silent
    torch.tensor(rows).to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(4, n).to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(1024, 1024).to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(1).expand(n).to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(4)[rows].to("cuda", non_blocking=True)  # expect: SYN303
    (select + torch.zeros(n, 1)).to("cuda", non_blocking=True)  # expect: SYN303
    either = torch.zeros(4) if flag else torch.zeros(n)
    either.to("cuda", non_blocking=True)  # expect: SYN303
    both = torch.zeros(4) if flag else torch.zeros(8)
    both.to("cuda", non_blocking=True)  # silent
    torch.cat([select, torch.zeros(n)]).to("cuda", non_blocking=True)  # expect: SYN303
    select.to("cuda")  # expect: SYN302
