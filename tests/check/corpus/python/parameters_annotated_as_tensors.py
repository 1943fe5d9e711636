"""Of what is passed for an annotated tensor, numbers, texts and lists are the analysis's own mistakes, or no mistake at all."""

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
