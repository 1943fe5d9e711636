"""A starred name takes a list of what is left."""

import torch


def run():
    sizes = torch.ones((3, 4), device="cuda")
    head, *tail = sizes
    head.tolist()  # expect: SYN102
    for row in tail:
        row.tolist()  # expect: SYN102
    *host, last = [torch.ones(4), torch.ones(4)]
    host[0].tolist()  # silent
    whole = [*tail, head]
    whole[0].tolist()  # expect: SYN102
    pair = (*host, *host)
    return pair[1].tolist()  # silent
