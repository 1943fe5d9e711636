"""Each named tuple has its own fields, wherever it goes; a call of `namedtuple` makes a class as a statement does."""

import collections
from typing import NamedTuple, Optional

import torch

State = collections.namedtuple("State", "t y, steps")
Listed = collections.namedtuple("Listed", ["t", "y"])
Typed = NamedTuple("Typed", [("t", torch.Tensor), ("count", int)])


class Solver:
    table = State(torch.ones(1), [torch.ones(2)], 0)
    middle = torch.ones(4)

    def __init__(self, device: str = "cuda"):
        self.table = State(
            t=self.table.t.to("cuda"),  # expect: SYN302
            y=[row.to("cuda") for row in self.table.y],  # expect: SYN302
            steps=0,
        )
        self.middle = self.middle.to("cuda")  # expect: SYN302

    def run(self):
        self.state = State(torch.ones(1), torch.ones(1, device="cuda"), 3)
        while self.state.y > 1:  # expect: SYN104
            self.state = self.advance(self.state)
        if self.state.t > 1:  # silent
            return self.state.y.item()  # expect: SYN101
        return self.middle.tolist()  # expect: SYN102

    def advance(self, state):
        t, y, steps = state
        t.item()  # silent
        y.item()  # expect: SYN101
        y[:steps]  # silent
        return state._replace(y=y + 1)


Solver().run()
host = Listed(torch.ones(1), torch.ones(1))
host.y.tolist()  # silent
gpu = Listed(y=torch.ones(1, device="cuda"), t=torch.ones(1, device="cuda"))
gpu.y.tolist()  # expect: SYN102
for field in gpu:
    field.tolist()  # expect: SYN102
gpu._replace(y=torch.ones(1)).y.tolist()  # silent


def read(typed: Typed, pair: tuple):
    typed.t.tolist()  # expect: SYN102 (assumed)
    return typed.count.tolist()  # silent


def made_inside(tensor):
    Local = collections.namedtuple("Local", "first second")
    local = Local(tensor.cuda(), 1)
    print(local.second)
    return local.first.item()  # expect: SYN101


class Pair(NamedTuple):
    x: torch.Tensor
    y: Optional[torch.Tensor] = None


def spread(rows, table):
    pair = Pair(*[row.cuda() for row in rows])
    if pair.y is not None:
        pair.y.tolist()  # expect: SYN102
    pair = Pair(**{name: row.cuda() for name, row in table.items()})
    if pair.y is not None:
        pair.y.tolist()  # expect: SYN102 (assumed)
    return Pair(torch.ones(3, device="cuda")).y.tolist()  # silent
