import numpy as np
import torch


def timesteps(count: int):
    steps = np.linspace(0, 999, count).round()[::-1].copy().astype(np.int64)
    levels = np.sqrt(np.exp(np.linspace(0, 1, count)))
    return torch.from_numpy(steps).to("cuda"), torch.from_numpy(levels).to("cuda")  # expect: SYN302, SYN302


def denoise(table: torch.Tensor):
    steps, levels = timesteps(20)
    for step, level in zip(steps, levels):
        table[step].add_(1)  # expect: SYN106
        if level > 0.5:  # expect: SYN104
            break


denoise(torch.ones(1000, device="cuda"))
