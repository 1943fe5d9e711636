"""A device that nobody passes is the default."""

import torch


def anchors(sizes, device=torch.device("cpu")):
    return torch.as_tensor(sizes, device=device)  # silent


def moved(device=torch.device("cuda")):
    return torch.as_tensor([1], device=device)  # expect: SYN301


def passed(sizes, device=torch.device("cpu")):
    return torch.as_tensor(sizes, device=device)  # expect: SYN301


def run():
    anchors([1])
    passed([1], torch.device("cuda"))
