"""A list holds what was put into it, in whatever way."""

import torch


def run():
    gpu = torch.ones(4, device="cuda")
    rows = []
    rows.append(gpu)
    rows[0].tolist()  # expect: SYN102
    more = []
    more.extend([gpu])
    more.pop().tolist()  # expect: SYN102
    first = [torch.ones(4)]
    first.insert(0, gpu)
    first[0].tolist()  # expect: SYN102
    joined = [torch.ones(4)] + [torch.ones(4)]
    joined[0].tolist()  # silent
    rows.copy()[0].tolist()  # expect: SYN102
    rows[1:][0].tolist()  # expect: SYN102
    list(rows)[0].tolist()  # expect: SYN102
    sorted(rows, key=len)[0].tolist()  # expect: SYN102
    sorted(rows)[0].tolist()  # expect: SYN102, SYN104
    max(rows, key=None)  # expect: SYN104
    min(rows, key=lambda row: row.shape[0])  # silent
    index = rows.index(gpu)
    torch.ones(4)[index].item()  # silent
    stored = [None] * 4
    stored[2] = gpu
    stored[2].tolist()  # expect: SYN102
    for row in stored:
        row.tolist()  # expect: SYN102
