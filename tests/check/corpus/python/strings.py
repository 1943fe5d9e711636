"""Methods of strings give strings and lists of them."""

import torch


def run(name: str):
    parts = name.split(":")
    torch.ones(4, device="cuda")[parts.index("a")].item()  # expect: SYN101
    for part in name.splitlines():
        torch.zeros(4, device=part).tolist()  # expect: SYN102 (inferred)
    for letter in "abc":
        letter.item()  # silent
    lower = name.lower()
    torch.zeros(4, device=lower).tolist()  # expect: SYN102 (inferred)
    torch.zeros(4, device=f"cuda:{name}").tolist()  # expect: SYN102
    torch.zeros(4, device=f"{name}:0").tolist()  # expect: SYN102 (inferred)
    torch.zeros(4, device="cuda:{}".format(0)).tolist()  # expect: SYN102 (inferred)
    counted = name.count("a")
    torch.zeros(4, device="cuda")[counted] = 1  # expect: SYN306
    return "long name of a device: " + name * 100
