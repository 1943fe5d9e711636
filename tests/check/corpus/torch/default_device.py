"""`with torch.device(...)` places what is made inside of it."""

import torch


def run():
    with torch.device("cuda"):
        inside = torch.zeros(4)
        named = torch.zeros(4, device="cpu")
        data = torch.tensor([1, 2])  # expect: SYN301
    outside = torch.zeros(4)
    inside.tolist()  # expect: SYN102
    named.tolist()  # silent
    data.tolist()  # expect: SYN102
    outside.tolist()  # silent
    with torch.device("cpu"):
        return torch.zeros(4).tolist()  # silent
