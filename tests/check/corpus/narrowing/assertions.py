"""What an assertion says is known behind it."""

import torch


def run(fast: bool, rows=None):
    t = torch.ones(4, device="cuda") if fast else torch.ones(4)
    assert t.is_cpu, "rows are read on the host"
    t.tolist()  # silent
    assert rows is not None
    rows.tolist()  # expect: SYN102
    assert isinstance(rows, torch.Tensor) and rows.is_cuda
    return rows.tolist()  # expect: SYN102


run(True, torch.ones(4, device="cuda"))
