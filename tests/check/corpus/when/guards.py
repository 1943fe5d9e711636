"""What a guard lets through once runs once, and so does what is only called there."""

import torch


class Runner:
    def __init__(self):
        self._limit = None
        self.ready = False

    def execute_model(self):
        if self._limit is None:
            self._limit = self._read()
        if not self.ready:
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.ready = True
        if not hasattr(self, "table"):
            torch.cuda.synchronize()  # expect: SYN401 (once)
        if self._limit is None:
            return torch.ones(1, device="cuda").item()  # expect: SYN101 (step)
        return self._limit

    def _read(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown)
