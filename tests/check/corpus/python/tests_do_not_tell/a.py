import torch


def total(lens):
    return lens.sum().item()  # silent: only a test passes anything


def widest(rows):
    return rows.max().item()  # silent


def run():
    total(torch.ones(4))
    return peak(torch.ones(4, device="cuda"))


def peak(rows):
    return rows.max().item()  # expect: SYN101
