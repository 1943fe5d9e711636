"""An annotation says what an empty container will hold; what is written into one is what it holds."""

from typing import Any

import torch


def filled():
    found: list[torch.Tensor] = [torch.ones(4, device="cuda")]
    pairs: tuple[torch.Tensor, int] = (torch.ones(4, device="cuda"), 3)
    table: dict[str, torch.Tensor] = {"a": torch.ones(4, device="cuda")}
    hosts: list[torch.Tensor] = [torch.ones(4)]
    found[0].tolist()  # expect: SYN102
    pairs[0].tolist()  # expect: SYN102
    table["a"].tolist()  # expect: SYN102
    return hosts[0].tolist()  # silent


def empty():
    later: Any = []
    later.append(torch.ones(4, device="cuda"))
    others: list = []
    others.append(torch.ones(4, device="cuda"))
    for other in others:
        other.tolist()  # expect: SYN102
    return later[0].tolist()  # expect: SYN102
