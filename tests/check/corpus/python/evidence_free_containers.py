"""Tensors in lists that a comprehension makes are stacked where they are."""

import torch


def run(n: int):
    gpu = torch.ones((4, 4), device="cuda")
    rows = [row for row in gpu]
    torch.cat(rows).tolist()  # expect: SYN102
    torch.stack([row * 2 for row in rows]).tolist()  # expect: SYN102
    torch.cat([torch.ones(1) for _ in range(n)]).tolist()  # silent
    torch.stack(tuple(rows)).tolist()  # expect: SYN102
    torch.some_new_operation([row for row in gpu]).tolist()  # expect: SYN102
    maybe = rows if n else None
    torch.cat(maybe).tolist()  # expect: SYN102
    one = gpu if n else None
    (-one).tolist()  # expect: SYN102
    (one + 1).tolist()  # expect: SYN102
    (~(one > 0)).tolist()  # expect: SYN102
    one[0].tolist()  # expect: SYN102
    one.T.tolist()  # expect: SYN102
    one[one > 0]  # expect: SYN201
    if one:  # expect: SYN104
        return f"{one}"  # expect: SYN107
    if (one == 1).all():  # expect: SYN104
        return int(one)  # expect: SYN103
    one[0] = torch.ones(4)  # expect: SYN307
    return one.cpu()  # expect: SYN105
