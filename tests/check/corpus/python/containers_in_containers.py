"""What is in a container that is in a container crosses a call with its place, and how deep is bounded."""

import torch


def one(parts):
    parts[0].item()  # expect: SYN101


def two(parts):
    parts[0][0].item()  # expect: SYN101


def moved(parts):
    host = [[part.cpu() for part in inner] for inner in parts]  # expect: SYN105
    return host[0][0].item()  # silent


def run():
    gpu = torch.zeros((), device="cuda")
    one([gpu])
    two([[gpu]])
    moved([[gpu]])
