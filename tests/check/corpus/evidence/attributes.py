"""What was stored in an attribute is followed back to where that was."""

import torch


class Runner:
    def __init__(self, n: int, device: torch.device):
        self.lens = torch.zeros(n, device="cuda")  # at: made
        self.device = device
        self.rows = torch.zeros(  # at: long
            n,
            device=self.device,
        )

    def step(self):
        self.rows.tolist()  # expect: SYN102 (inferred)
        # because: long: `torch.zeros(n, device=self.device)` places the tensor on a device chosen at run time, assumed to be the GPU
        return self.lens.tolist()  # expect: SYN102 (inferred)
        # because: made: `torch.zeros(n, device="cuda")` places the tensor on the GPU


class Batch:
    def fill(self, lens):
        self.lens = lens  # at: stored

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)
        # because: stored: an assignment sets `self.lens`
        # because: passed: a call site passes `lens` to `Batch.fill`
        # because: given: `torch.ones(4, device="cuda")` places the tensor on the GPU


given = torch.ones(4, device="cuda")  # at: given
Batch().fill(given)  # at: passed


class Table:
    rows = None

    def __init__(self):
        self.first = self.rows.tolist()  # expect: SYN102 (inferred)
        # because: table: an assignment sets `Table.rows`
        # because: zeros: `torch.zeros(4, device="cuda")` places the tensor on the GPU


zeros = torch.zeros(4, device="cuda")  # at: zeros
Table.rows = zeros  # at: table
Table()
