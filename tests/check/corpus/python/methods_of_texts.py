"""Methods of texts give texts, numbers, and bytes, which are numbers."""

import torch


def encoded(text: str):
    ids = [byte + 3 for byte in text.encode("utf-8")]
    return torch.tensor(ids, device="cuda")  # expect: SYN301


def positions(text: str):
    place = text.find("x")
    torch.tensor([place, text.count("y")], device="cuda")  # expect: SYN301
    return torch.ones(4, device="cuda")[place]  # silent
