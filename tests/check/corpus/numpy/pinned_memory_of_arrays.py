"""A view of an array of pinned memory is pinned too; a copy of it is not, and no array that NumPy makes is."""

import torch


def run(n: int):
    array = torch.zeros(n, pin_memory=True).numpy()
    torch.from_numpy(array.reshape(2, -1)).to("cuda", non_blocking=True)  # silent
    torch.from_numpy(array.copy()).to("cuda", non_blocking=True)  # expect: SYN303
    torch.from_numpy(array.astype("float32")).to("cuda", non_blocking=True)  # expect: SYN303
    torch.from_numpy(array.repeat(2)).to("cuda", non_blocking=True)  # expect: SYN303
    torch.from_numpy(array.take([0])).to("cuda", non_blocking=True)  # expect: SYN303
