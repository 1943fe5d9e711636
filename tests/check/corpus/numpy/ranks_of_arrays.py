"""Arrays by their sizes: a store of one number needs no copy, a store of an array does."""

import numpy as np
import torch


class Runner:
    def __init__(self, n: int):
        self.ids = torch.zeros(n, dtype=torch.long, device="cuda")
        self.ids_np = np.zeros(n, dtype=np.int64)
        self.table_np = np.full((n, 4), 0)
        self.unknown = np.load("ids.npy")

    def step(self, n: int):
        self.ids[:n] = torch.from_numpy(self.ids_np[:n])  # expect: SYN307
        self.ids[:n] = torch.as_tensor(self.table_np)[0]  # expect: SYN307
        self.ids[:n] = torch.from_numpy(self.ids_np)[0]  # silent: one number
        self.ids[:n] = torch.from_numpy(self.unknown)  # silent
