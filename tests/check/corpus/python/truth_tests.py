"""What asks a tensor whether it is true waits; what asks whether there is one does not."""

import torch


def run(flag: bool):
    t = torch.ones((), device="cuda")
    if t:  # expect: SYN104 `t`
        pass
    elif t > 1:  # expect: SYN104 `t > 1`
        pass
    while t < 0:  # expect: SYN104
        break
    if flag and t:  # expect: SYN104
        pass
    if not t:  # expect: SYN104
        pass
    chosen = 1 if t else 2  # expect: SYN104
    known = t or flag  # expect: SYN104
    if 0 < t < 2:  # expect: SYN104
        pass
    if t is not None and t is not flag:  # silent
        pass
    found = 3 in torch.ones(4, device="cuda")  # expect: SYN104
    member = t in [1, 2]  # expect: SYN104
    if len(t.shape) or t.numel() or t.is_cuda or t.dtype == torch.int64:  # silent
        pass
    last = flag and t  # silent: the last operand is given on untested
    return chosen, known, found, member, last
