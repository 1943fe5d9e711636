"""What one path put into a list or a dictionary is forgotten where the paths meet."""

import torch


def run(flag: bool):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    rows = [gpu, gpu]
    if flag:
        rows[0] = host
        rows[0].item()  # silent
    rows[0].item()  # expect: SYN101
    table = {"b": gpu}
    table["a"] = host
    del table["a"]
    table["a"].item()  # silent
    table["b"].item()  # expect: SYN101
    three = (gpu, host, gpu)
    three[-2].item()  # silent
    three[-1].item()  # expect: SYN101
    found = 1 if (n := gpu) is not None else 2
    n.item()  # expect: SYN101
    y = gpu if flag else rows.to("cuda")
    y.cpu()  # expect: SYN105
    return found
