"""How many dimensions a result has is measured for each operation: a scalar indexes as a number, and reads it."""

import torch

names = ["a", "b"]


def run(n: int, keep: bool):
    x = torch.zeros(8, 8, device="cuda")
    row = torch.zeros(8, dtype=torch.int64, device="cuda")
    one = row.sum()
    x[one]  # expect: SYN106
    x[one * 2]  # expect: SYN106
    x[torch.stack([one, one])]  # silent
    x[torch.vstack([one, one])]  # silent
    x[torch.hstack([one, one])]  # silent
    x[one.unsqueeze(0)]  # silent
    x[one.repeat(3)]  # silent
    x[one.new_zeros(3)]  # silent
    x[torch.max(torch.vstack([row, row]), dim=0)[0]]  # silent
    x[torch.max(row, dim=0)[0]]  # expect: SYN106
    x[torch.max(row, dim=0, keepdim=True)[0]]  # silent
    x[torch.max(row, dim=0, keepdim=keep)[0]]  # silent
    x[row.view(-1)[0]]  # expect: SYN106
    x[row.view(2, 4)[0]]  # silent
    x[row.view(row.size())[0]]  # silent
    x[row.view(row.shape)[0]]  # silent
    x[row.view(*row.shape)[0]]  # silent: how many numbers a star stands for is not known


def label(kinds: torch.Tensor):
    kinds = kinds.cuda()
    for kind in kinds:
        print(names[kind])  # expect: SYN106
    print([names[kind] for kind in kinds.cpu()])  # expect: SYN105
    print(names[:1], names[kinds.shape[0]])  # silent
    print({"a": 1}[kinds])  # silent
