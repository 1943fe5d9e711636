"""What a tensor holds is asked on the GPU; but torch neither looks for a text there nor compares with one."""

import torch


def run(model, flag: bool):
    t = torch.ones(3, device="cuda")
    if 2.0 in t:  # expect: SYN104
        return t
    if "loss" in t:  # silent
        return t
    if "loss" not in t:  # silent
        return t
    if "loss" in [t, t]:  # silent
        return t
    if t == "loss" or t != "loss":  # silent
        return t
    key = "loss"
    out = t if flag else model(t)
    return out if key in out else None  # silent
