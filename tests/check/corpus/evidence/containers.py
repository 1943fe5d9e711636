"""What a container holds keeps its reason."""

import torch


class Pool:
    def __init__(self):
        self.rows = []

    def add(self, n: int):
        self.rows.append(torch.ones(n, device="cuda"))  # at: added

    def read(self):
        return self.rows[0].tolist()  # expect: SYN102 (inferred)
        # because: added: `torch.ones(n, device="cuda")` places the tensor on the GPU


def passed(rows):
    return rows[0].tolist()  # expect: SYN102 (inferred)
    # because: call: a call site passes `rows` to `passed`
    # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


row = torch.ones(1, device="cuda")  # at: made
passed([row, row])  # at: call
