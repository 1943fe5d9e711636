"""A parameter that is annotated as a tensor stays a tensor, even if some callers seem to pass numbers, texts or lists."""

import torch


def kept(index: torch.Tensor):
    return index[index > 0]  # expect: SYN201


def listed(rows: torch.Tensor):
    return rows[0].item()  # silent


def items(several):
    for item in several:
        yield item


def run(several):
    kept(torch.ones(4, device="cuda"))
    kept("rows")
    kept({"rows": 1})
    kept([torch.ones(4, device="cuda")])
    listed([1, 2])
