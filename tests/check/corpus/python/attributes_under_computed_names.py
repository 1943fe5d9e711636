"""Code that transfers every attribute of an object decides the device of each of them."""

from dataclasses import dataclass, fields

import torch


@dataclass
class Batch:
    rows: torch.Tensor
    lens: torch.Tensor

    def to_device(self, device):
        values = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, torch.Tensor):
                value = value.to(device, non_blocking=True)  # at: transferred
            values[each.name] = value
        return Batch(**values)  # at: made


class Rows:
    def __init__(self, rows, lens, count):
        self.rows = rows
        self.lens = lens
        self.count = count

    def to(self, device):
        for name, value in vars(self).items():
            setattr(self, name, value.to(device, non_blocking=True))
        return self


@dataclass
class Nested:
    rows: list[list[torch.Tensor]] = None
    lens: torch.Tensor = None

    def to_device(self, device):
        values = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, torch.Tensor):
                value = value.to(device)
            elif each.name == "rows":
                value = [[one.to(device) for one in row] for row in value]
            values[each.name] = value
        return Nested(**values)


class Settings:
    def __init__(self, rows, **others):
        self.rows = rows
        for name, value in others.items():
            setattr(self, name, value)


def nested_rows(texts):
    return [[torch.tensor([1, 2])]] if texts else None


def load():
    return torch.tensor([1, 2]), torch.tensor([2, 2])


def run():
    table = torch.zeros(8, device="cuda")
    batch = Batch(*load()).to_device("cuda")
    rows = Rows(*load(), 2).to("cuda")
    if rows.count > 1:
        table.add_(table[batch.rows] + table[rows.rows])
    if batch.lens.sum() > 1:  # expect: SYN104 (assumed)
        # because: made: assignments under computed names set attributes of `Batch`
        # because: transferred: `value.to(device, non_blocking=True)` places the tensor on the GPU
        rows.lens.tolist()  # expect: SYN102 (assumed)
    nested = Nested(nested_rows(["a"]), torch.tensor([2, 2])).to_device("cuda")
    for row in nested.rows:
        for one in row:
            table[one] += 1  # copied under a computed name, like all attributes
    return table[Settings(torch.tensor([1, 2])).rows]  # expect: SYN305
