"""Lists that are added, repeated and sliced."""

import torch


def run(n: int):
    gpu = torch.ones(1, device="cuda")
    ([gpu] * n)[0].item()  # expect: SYN101
    (n * [gpu])[0].item()  # expect: SYN101
    ([gpu] + [gpu])[1].item()  # expect: SYN101
    ((gpu,) + (gpu,))[1].item()  # expect: SYN101
    ([torch.ones(1)] * n)[0].item()  # silent
    mixed = [gpu] + (gpu,)
    mixed[0].item()  # silent: Python refuses it
    table = {"a": gpu} | {"b": gpu}
    table["a"].item()  # todo: SYN101
    repeated = [0] * gpu.long()  # expect: SYN106
    return repeated


def rescale(noise: tuple, text: torch.Tensor, mean: torch.Tensor):
    scale = text.cuda() / mean
    [0] * scale.long().sum()  # expect: SYN106
    return noise * scale  # silent: no fraction repeats, so it is a tensor
