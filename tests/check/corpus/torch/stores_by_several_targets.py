"""A subscript stores wherever a target may stand: in a tuple, in a chain, and at the head of a loop."""

import torch


def numbers():
    return 8.0, 3


def store(x: torch.Tensor, host: torch.Tensor, h: list[float]):
    x[1, 1], n = 8.0, 3  # expect: SYN306 `x[1, 1]`
    n, (x[0, 0], x[0, 1]) = 3, (1.0, 2.0)  # expect: SYN306 `x[0, 0]`, SYN306 `x[0, 1]`
    x[1, 1], n = numbers()  # expect: SYN306 `x[1, 1]`
    [x[0, 0], *_] = h  # expect: SYN306 `x[0, 0]`
    x[0], n = 8.0, 3  # silent: a fill
    host[1, 1], n = 8.0, 3  # silent
    for x[0, 0] in h:  # expect: SYN306 `x[0, 0]`
        pass
    for n, x[0, 0] in enumerate(h):  # expect: SYN306 `x[0, 0]`
        pass
    for x[0] in h:  # silent: a fill
        pass
    for x[0] in torch.ones(2, 3):  # expect: SYN307 `x[0]`
        pass
    x[0], n = torch.ones(3), 3  # expect: SYN307 `x[0]`
    x[0] = x[1] = torch.ones(3)  # expect: SYN307 `x[0] = x[1] = torch.ones(3)`, SYN307 `x[1]`
    host[0], n = x[0], 3  # expect: SYN105 `host[0]`
    host[0], host[1] = x  # expect: SYN105 `host[0]`, SYN105 `host[1]`
    for host[0] in x:  # expect: SYN105 `host[0]`
        pass


store(torch.zeros(2, 3, device="cuda"), torch.zeros(2, 3), [1.0, 2.0])
