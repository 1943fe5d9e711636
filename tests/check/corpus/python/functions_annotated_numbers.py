"""An annotation of a number is believed, whatever is passed; one of a tensor adds to what is."""

import numpy as np
import torch


def limited(n: int, name: str, scale: float):
    rows = torch.zeros((8, 4), device="cuda")
    rows[:n]  # todo: SYN106
    return rows * scale, f"{name}"


def read(t: torch.Tensor):
    return t.item()  # expect: SYN101 (assumed)


def arrays(rows: np.ndarray):
    torch.zeros(8, device="cuda")[rows]  # expect: SYN305
    return torch.from_numpy(rows).tolist()  # silent


def moved(t: torch.Tensor):
    return t.tolist()  # expect: SYN102


gpu = torch.ones((), device="cuda")
limited(gpu.max(), gpu, gpu)
arrays([1, 2])
read(3.0)


def start(batch):
    batch = batch.to("cuda")
    moved(batch)
