"""A reduction over all of a tensor has no dimensions; one along a dimension has one less."""

import torch


def run():
    rows = torch.ones((8, 4), device="cuda")
    counts = torch.zeros(8, device="cuda")
    counts[rows.long().argmax()] = 1  # expect: SYN106
    counts[rows.long().argmax(dim=None)] = 1  # expect: SYN106
    counts[rows.long().argmax(dim=0)] = 1  # expect: SYN306
    counts[rows.sum(dim=0).argmax(0)] = 1  # expect: SYN106
    counts[rows.sum(dim=0, keepdim=True).argmax(0)] = 1  # expect: SYN306
    values, indices = rows.max(dim=1)
    values.tolist()  # expect: SYN102
    counts[indices[0]]  # expect: SYN106
    largest = torch.max(rows, rows)
    largest.tolist()  # expect: SYN102
    rows.max().item()  # expect: SYN101
    best, where = torch.topk(rows, 2)
    best.tolist()  # expect: SYN102
    where.tolist()  # expect: SYN102
    chunks = rows.split(2)
    chunks[0].tolist()  # expect: SYN102
    first, *others = torch.unbind(rows)
    return others[0].tolist()  # expect: SYN102
