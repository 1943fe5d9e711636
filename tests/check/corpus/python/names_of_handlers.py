"""The name of a caught exception hides what had it before."""

import torch


def run(risky):
    t = torch.ones(1, device="cuda")
    try:
        risky()
    except ValueError as t:
        t.item()  # silent
        return None
    except (TypeError, OSError):
        t.item()  # expect: SYN101
    t.item()  # expect: SYN101
    by_name = (lambda t: t.item())(t=t)  # expect: SYN101
    (n := 2)
    ((t,) * n)[0].item()  # expect: SYN101
    (n * (t,))[0].item()  # expect: SYN101
    t[0] = torch.ones(())  # expect: SYN307
    t[0].item()  # expect: SYN101
    return by_name
