"""A guard may ask what an object keeps through a property that returns it."""

import torch


class Schedule:
    def __init__(self):
        self._index = None
        self._table = None
        self.times = torch.arange(8, device="cuda")

    @property
    def index(self):
        """Where it is."""
        return self._index

    @property
    def table(self):
        return self._table

    @property
    def first(self):
        return self.times[0]

    def find(self, time):
        self._index = (self.times == time).nonzero()  # expect: SYN202 (once)

    @torch.no_grad()
    def step(self, time):
        if self.index is None:
            self.find(time)
        if self.table is None:
            self._other = self.times.tolist()  # expect: SYN102 (step)
        if self.first is None:
            self._first = self.times.cpu()  # expect: SYN105 (step)
