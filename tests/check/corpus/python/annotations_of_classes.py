"""An annotation may name a class of the project, also one that is nested or comes later."""

from __future__ import annotations

import torch


def run(
    batch: Batch, inner: Batch.Inner, cls: type[Batch], rows: list[Batch], maybe: Batch | None, text: "Batch"
):
    batch.lens.tolist()  # expect: SYN102
    inner.rows.tolist()  # expect: SYN102
    rows[0].lens.tolist()  # expect: SYN102
    text.lens.tolist()  # expect: SYN102
    if maybe is not None:
        maybe.lens.tolist()  # expect: SYN102
    return cls


class Batch:
    class Inner:
        def __init__(self):
            self.rows = torch.ones(4, device="cuda")

    def __init__(self):
        self.lens = torch.ones(4, device="cuda")

    def other(self, other: Batch) -> Batch:
        other.lens.tolist()  # expect: SYN102
        return self.inner.rows.tolist()  # silent


def local():
    class Here:
        def __init__(self):
            self.lens = torch.ones(4, device="cuda")

    def read(here: Here):
        return here.lens.tolist()  # expect: SYN102

    return read
