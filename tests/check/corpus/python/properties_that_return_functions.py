"""A property may return what is then called; a setter is no getter."""

import torch


class Runner:
    def __init__(self):
        self._rows = torch.ones(4, device="cuda")

    @property
    def reader(self):
        return self.read

    def read(self, t):
        return t.item()  # expect: SYN101

    @property
    def rows(self):
        return self._rows

    @rows.setter
    def rows(self, value):
        value.sum().item()  # silent: nobody is seen to pass it

    @rows.deleter
    def rows(self):
        self._rows = None


runner = Runner()
runner.reader(torch.ones(1, device="cuda"))
runner.rows.tolist()  # expect: SYN102
runner.rows = torch.ones(1)
del runner.rows
