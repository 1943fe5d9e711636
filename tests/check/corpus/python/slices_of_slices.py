"""A slice whose bounds are computed, kept in a variable, and used again."""

import torch


def run(n: int, starts: list[int]):
    gpu = torch.ones(8, device="cuda")
    end = gpu.argmax()
    gpu[:end]  # expect: SYN106
    gpu[end:]  # expect: SYN106
    gpu[::end]  # expect: SYN106
    gpu[: end + 1]  # expect: SYN106
    gpu[0, :end]  # expect: SYN106
    window = slice(n, n + 1)
    gpu[window]  # silent
    bounds = slice(end)
    gpu[bounds]  # expect: SYN106
    windows = [slice(0, end)]
    gpu[windows[0]]  # expect: SYN106
    gpu[: starts[0]]  # silent
    host = torch.ones(8)
    host[:end]  # expect: SYN106
    return gpu[gpu.argmax() :][0]  # expect: SYN106
