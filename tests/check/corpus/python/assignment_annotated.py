"""An annotation says what a value is where the value itself does not."""

from pool import lease

import torch


def run(count: int):
    unknown = lease(count)
    unknown.max()  # silent
    known: torch.Tensor = lease(count)
    torch.full_like(known, 0).to("cuda").tolist()  # expect: SYN102
    number: int = lease(count)
    torch.zeros(4, device="cuda")[number] = 1.0  # expect: SYN306
    rows: list[torch.Tensor] = []
    rows.append(torch.ones(4, device="cuda"))
    return rows[0].tolist()  # expect: SYN102
