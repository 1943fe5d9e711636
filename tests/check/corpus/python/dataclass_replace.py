"""`dataclasses.replace` stores into the fields that it names."""

import dataclasses
from dataclasses import dataclass

import torch


@dataclass
class Metadata:
    lens: torch.Tensor
    rows: torch.Tensor

    def read(self):
        self.rows.tolist()  # silent
        return self.lens.tolist()  # expect: SYN102


def pad(metadata: Metadata):
    padded = dataclasses.replace(metadata, lens=torch.ones(4, device="cuda"))
    padded.lens.sum().item()  # expect: SYN101
    return padded


pad(Metadata(torch.ones(3), torch.ones(3)))


@dataclass
class Sized:
    lens: torch.Tensor
    size: int
    longest: "int | None" = None


def replay(sized: Sized, names: list[str]):
    changes = {"size": 4}
    for name in names:
        changes[name] = torch.ones(4, device="cuda")
    view = dataclasses.replace(sized, **changes)
    print(f"{view.size} of {view.longest}")  # silent: the dictionary holds values of other fields, too
    made = Sized(**changes)
    return f"{made.size}"  # silent
