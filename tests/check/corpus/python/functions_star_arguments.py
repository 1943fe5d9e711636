"""`*args` and `**kwargs` hold what no other parameter takes, and give it on."""

import torch


def rest(first, *others, scale=None, **more):
    first.item()  # silent
    for other in others:
        other.item()  # expect: SYN101
    for name, value in more.items():
        value.tolist()  # expect: SYN102
    more["bias"].item()  # expect: SYN101
    return others


def forwarded(*args, **kwargs):
    return target(*args, **kwargs)


def target(a, b):
    return a.item()  # expect: SYN101


gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
rest(host, gpu, gpu, scale=1, bias=gpu)
rest(host)[0].item()  # expect: SYN101
forwarded(gpu, gpu)


def spread(a, b):
    a.item()  # expect: SYN101
    b.item()  # silent


pair = (gpu, host)
spread(*pair)
