"""What one method stores another one reads; each attribute for itself."""

import torch


class Runner:
    limit = torch.ones(1)

    def __init__(self, size: int):
        self.lens = torch.zeros(size, device="cuda")
        self.host = torch.zeros(size)
        self.lens.sum().item()  # expect: SYN101
        self.maybe = None

    def fill(self):
        self.maybe = torch.ones(1, device="cuda")
        self.lens.fill_(1)

    def step(self):
        self.lens.tolist()  # expect: SYN102 (inferred)
        self.host.tolist()  # silent
        self.limit.tolist()  # silent
        if self.maybe is not None:
            self.maybe.item()  # expect: SYN101

    def rebind(self):
        self.lens = torch.zeros(4)
        self.lens.tolist()  # silent
        self.fill()
        return self.nowhere.item()  # silent


runner = Runner(4)
runner.lens.tolist()  # expect: SYN102
runner.added = torch.ones(1, device="cuda")


def later(runner: Runner):
    return runner.added.item()  # expect: SYN101
