"""An annotation that names a container and not what it holds is a container: it has no wait of its own."""

from typing import Dict, List, Tuple


def bare(a: list, b: dict, c: tuple, d: List, e: Dict, f: Tuple):
    if a:  # silent
        pass
    if b or c or d or e or f:  # silent
        pass
    return len(a), float(len(c))


def held(parts: tuple, table: dict):
    import torch

    gpu = torch.zeros(3, device="cuda")
    parts = (gpu, *parts)
    parts[0].item()  # expect: SYN101
    table["x"] = gpu
    return table["x"].item()  # expect: SYN101
