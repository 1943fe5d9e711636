"""A list needs a number for the place of an item, also where the item is stored, deleted, inserted or taken out."""

import torch


class Slots:
    def __init__(self):
        self.names = ["a", "b"]

    def __delitem__(self, index):
        del self.names[index]  # expect: SYN106


def fill(x: torch.Tensor, names: list[str], table: dict):
    i = x.argmax()
    names[i] = "z"  # expect: SYN106 `names[i]`
    names[i] += "z"  # expect: SYN106
    names[: i + 1] = ["z"]  # expect: SYN106
    names[0] = "z"  # silent
    names[i], n = "z", 3  # expect: SYN106
    del names[i]  # expect: SYN106 `names[i]`
    del names[0], names[i - 1 :]  # expect: SYN106 `names[i - 1 :]`
    names.insert(i, "q")  # expect: SYN106
    names.insert(n, "q")  # silent
    names.pop(i)  # expect: SYN106
    names.pop(), names.pop(-1)  # silent
    table[i] = "z"  # silent: a dictionary takes the tensor itself as the key
    del table[i]  # silent
    table.pop(i)  # silent
    torch.nn.ModuleList([torch.nn.ReLU()])[i] = torch.nn.ReLU()  # expect: SYN106


def empty(x: torch.Tensor):
    del Slots()[x.argmax()]


fill(torch.ones(2, device="cuda"), ["a", "b"], {})
empty(torch.ones(2, device="cuda"))
