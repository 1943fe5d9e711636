"""`pop` and `get` give a default where there is one."""

import torch


def run(table: dict):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    hosts = {"a": host}
    hosts.pop("a").item()  # silent
    hosts.get("a").item()  # silent
    hosts.get("b", gpu).item()  # expect: SYN101
    hosts.setdefault("b", gpu).item()  # expect: SYN101
    hosts.pop("b", gpu).item()  # expect: SYN101
    gpus = {"a": gpu}
    gpus.pop("a", None).item()  # expect: SYN101
    gpus.get("a", None).item()  # expect: SYN101
    gpus.copy()["a"].item()  # expect: SYN101
    for key in gpus.keys():
        key.item()  # silent
    rows = [gpu]
    rows.count(gpu).item()  # silent
    rows.__len__().item()  # silent
    return rows.copy().pop(0).item()  # expect: SYN101
