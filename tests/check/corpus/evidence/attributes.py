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
        # because: long: `torch.zeros(  # at: long...` puts it on a device that the run decides, taken for the GPU
        return self.lens.tolist()  # expect: SYN102 (inferred)
        # because: made: `torch.zeros(n, device="cuda")` puts it there


class Batch:
    def fill(self, lens):
        self.lens = lens  # at: stored

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)
        # because: stored: `self.lens` is set
        # because: passed: `lens` of `Batch.fill` is passed here
        # because: given: `torch.ones(4, device="cuda")` puts it there


given = torch.ones(4, device="cuda")  # at: given
Batch().fill(given)  # at: passed


class Table:
    rows = None

    def __init__(self):
        self.first = self.rows.tolist()  # expect: SYN102 (inferred)
        # because: table: `Table.rows` is set
        # because: zeros: `torch.zeros(4, device="cuda")` puts it there


zeros = torch.zeros(4, device="cuda")  # at: zeros
Table.rows = zeros  # at: table
Table()
