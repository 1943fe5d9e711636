"""An annotation of a number is believed, whatever is passed; one of a tensor adds to what is."""

from typing import Optional, Union

import numpy as np
import torch


def limited(n: int, name: str, scale: float):
    rows = torch.zeros((8, 4), device="cuda")
    rows[:n]  # todo: SYN106
    return rows * scale, f"{name}"


def limited_or_not(
    n: int | None = None, scale: Optional[float] = None, m: Union[int, torch.Tensor, None] = None
):
    if n is None:
        n = 3
    if n > 2:  # silent
        return n
    if scale is not None and scale > 2:  # silent
        return scale
    if m is not None and m > 2:  # expect: SYN104
        return 1


def read(t: torch.Tensor):
    return t.item()  # expect: SYN101 (assumed)


def arrays(rows: np.ndarray):
    torch.zeros(8, device="cuda")[rows]  # expect: SYN305
    return torch.from_numpy(rows).tolist()  # silent


def moved(t: torch.Tensor):
    return t.tolist()  # expect: SYN102


gpu = torch.ones((), device="cuda")
limited(gpu.max(), gpu, gpu)
limited_or_not(gpu.max(), gpu, gpu)
arrays([1, 2])
read(3.0)


def start(batch):
    batch = batch.to("cuda")
    moved(batch)
