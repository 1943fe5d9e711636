"""A method that no tensor has says nothing of where its result lives; that of a tensor gives a tensor beside it."""

import torch


def shard_of(placements):
    for each in placements:
        if each.is_shard():  # silent
            return each.axis_of(0).item()  # silent
    return None


def run():
    shard_of([torch.ones(4, device="cuda")])
    ones = torch.ones(4, device="cuda")
    if ones.map2_(ones, ones, max).any():  # expect: SYN104
        return ones.dequantize().tolist()  # expect: SYN102
    return ones.full_tensor().sum().item()  # expect: SYN101
