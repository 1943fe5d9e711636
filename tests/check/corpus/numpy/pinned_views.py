"""An array may share the pinned memory of a tensor; one that is copied from it does not."""

import numpy as np
import torch


class Buffer:
    def __init__(self, n: int):
        self.cpu = torch.zeros(n, pin_memory=True)
        self.np = self.cpu.numpy()

    def upload(self, rows: list[int]):
        self.np[: len(rows)] = rows
        return self.cpu[: len(rows)].to("cuda", non_blocking=True)  # silent

    def upload_copy(self):
        copied = torch.from_numpy(self.np.copy())
        return copied.to("cuda", non_blocking=True)  # expect: SYN303

    def upload_sum(self):
        added = torch.from_numpy(self.np + np.ones(4))
        return added.to("cuda", non_blocking=True)  # expect: SYN303
