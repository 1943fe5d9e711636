"""What a function takes in ``**more`` is none of its parameters, also under the name of one of them."""

import torch


def takes(first, *rest, flag=False, **more):
    first.item()  # expect: SYN101
    if flag:  # silent
        pass
    for each in rest:
        each.item()  # expect: SYN101
    return more["scale"].item()  # expect: SYN101


def run():
    gpu = torch.zeros((), device="cuda")
    takes(gpu, gpu, flag=True, scale=gpu)


def positional(first, **more):
    if first:  # silent
        pass
    return more


def spread(values: list[int]):
    positional(1, first_of_all=torch.zeros((), device="cuda"))
