"""A match binds the parts of what it takes apart; the paths meet behind it."""

import torch


def run(kind: str, pair):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    match kind:
        case "fast":
            t = gpu
        case "slow" | "slower":
            t = host
        case _:
            return None
    t.item()  # expect: SYN101 (inferred)
    match [gpu, gpu]:
        case [first, *others]:
            first.item()  # expect: SYN101
            others[0].item()  # expect: SYN101
    match gpu:
        case torch.Tensor() as same:
            same.item()  # expect: SYN101
    match pair:
        case {"lens": lens, **rest}:
            lens.item()  # silent
            rest.item()  # silent
        case Pair(left=left):
            left.item()  # silent
    match pair:
        case unchanged if unchanged.device.type == "cuda":
            unchanged.to("cpu")  # expect: SYN105
    return gpu.item()  # expect: SYN101


class Pair:
    left = torch.ones(1, device="cuda")
