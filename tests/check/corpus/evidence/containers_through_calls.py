"""What came in a container through a call is followed, and no more proved than the call is."""

import torch


def table():
    return {"lens": torch.zeros(3, device="cuda")}


def read():
    return table()["lens"].item()  # expect: SYN101 (inferred)


def here():
    return {"lens": torch.zeros(3, device="cuda")}["lens"].item()  # expect: SYN101 (proved)
