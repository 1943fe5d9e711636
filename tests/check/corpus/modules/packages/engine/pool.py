from __future__ import annotations

from . import buffers
from .buffers import make


class Pool:
    def __init__(self, n: int):
        self.rows = make(n)
        self.more = buffers.make(n)

    def read(self):
        self.more.tolist()  # expect: SYN102
        return self.rows.tolist()  # expect: SYN102
