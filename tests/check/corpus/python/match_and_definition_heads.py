"""What a match, its guards and the head of a definition wait for is found in its place."""

import torch

t = torch.zeros(3, device="cuda")

match t.item():  # expect: SYN101
    case 1 if t:  # expect: SYN104
        t.tolist()  # expect: SYN102
    case 2 | 3 if t > 0:  # expect: SYN104
        pass
    case {"é": [x]} if x and t:  # expect: SYN104
        pass

match t.sum().item():  # expect: SYN101  # "é"
    # case
    case _:
        pass


def f(x=t.item()):  # expect: SYN101
    return t.tolist()  # expect: SYN102


@f(t.item())  # expect: SYN101
class A:
    x = t.item()  # expect: SYN101


async def f(x, *, y=t.tolist()):  # expect: SYN102
    pass
