"""list, tuple, set, dict, zip, enumerate, map, reversed and chain keep what they are made of."""

import itertools

import torch


def doubled(t):
    return t * 2


def run(n: int):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    pair = (host, gpu)
    list(pair)[1].item()  # expect: SYN101
    list(pair)[0].item()  # silent
    tuple([host, gpu])[0].item()  # silent
    for t in set([gpu]):
        t.item()  # expect: SYN101
    for t in list(), tuple(), set(), dict():
        t.item()  # silent
    dict({"a": gpu}, b=gpu)["a"].item()  # expect: SYN101
    dict(b=gpu)["b"].item()  # expect: SYN101
    for index, (a, b) in enumerate(zip([host], [gpu])):
        a.item()  # silent
        b.item()  # expect: SYN101
        torch.zeros(8, device="cuda")[index] = 1  # expect: SYN306
    for t in map(doubled, [gpu]):
        t.item()  # expect: SYN101
    for t in map(doubled, [host]):
        t.item()  # silent
    for t in itertools.chain([gpu], [host]):
        t.item()  # todo: SYN101
    for t in itertools.chain.from_iterable([[gpu], [gpu]]):
        t.item()  # expect: SYN101
    torch.zeros(8, device="cuda")[list(range(n))]  # expect: SYN305
    torch.zeros(8, device="cuda")[sorted([1, 2])]  # expect: SYN305
    torch.zeros(8, device="cuda")[[0, 1, 2][1:]]  # expect: SYN305
    torch.zeros(8, device="cuda")[(0, 1, 2)[1:]]  # silent: integers of a tuple
    list(torch.ones(2, device="cuda"))[0].item()  # expect: SYN101
    return max([gpu, gpu]).item()  # expect: SYN104, SYN101
