"""A value that is copied to the host only to be stored belongs in a tensor on the host."""

import torch


def swapped_in(blocks, kept: torch.Tensor):
    kept[:2] = blocks.part.cpu()  # silent


def swapped_out(blocks, kept: torch.Tensor, rows: torch.Tensor):
    kept[rows] = blocks[rows].cpu()  # expect: SYN105
    kept[rows] = torch.zeros(4)  # expect: SYN307


def run(blocks, kept: torch.Tensor):
    swapped_in(blocks, kept.to("cuda"))
    swapped_out(blocks, kept.to("cuda"), torch.ones(4, device="cuda"))
