"""A comparison of `device.type` with a text tells where a tensor is."""

import torch


def run(fast: bool):
    t = torch.ones(4, device="cuda") if fast else torch.ones(4)
    if t.device.type == "cuda":
        t.tolist()  # expect: SYN102
    if t.device.type == "cpu":
        t.tolist()  # silent
    if t.device.type != "cuda":
        t.tolist()  # false: SYN102
    if not t.device.type == "cpu":
        t.tolist()  # expect: SYN102
    if t.device.type == "cuda:0":
        t.tolist()  # expect: SYN102
    assert t.device.type == "cpu"
    return t.tolist()  # silent
