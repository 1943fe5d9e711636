"""Python compares or tests what a function of the program returns: `key=`, `filter`, and the order of objects."""

import torch


class Beam:
    def __init__(self, score: torch.Tensor, length: int):
        self.score, self.length = score, length

    def __lt__(self, other: "Beam"):
        return self.score < other.score


class Row:
    def __init__(self, score: torch.Tensor, length: int):
        self.score, self.length = score, length

    def __lt__(self, other: "Row") -> bool:
        return self.length < other.length

    def __gt__(self, other: "Row"):
        return self.score > other.score


def compare(x: torch.Tensor, flag: bool):
    norms = {"a": x[0], "b": x[1]}
    max(norms, key=norms.get)  # expect: SYN104 (inferred)
    min(range(2), key=lambda j: x[j])  # expect: SYN104
    sorted(range(2), key=lambda j: (x[j], j))  # expect: SYN104
    sorted(range(2), key=lambda j: x[j].shape[0])  # silent
    max(norms, key=len)  # silent
    max(range(2), key=lambda j: x[j] if flag else 1.0)  # silent: on one path alone
    beams = [Beam(x[0], 1), Beam(x[1], 2)]
    sorted(beams)  # expect: SYN104
    min(beams)  # expect: SYN104
    max(beams)  # expect: SYN104
    max(beams, key=lambda beam: beam.score)  # expect: SYN104
    max(beams, key=lambda beam: beam.length)  # silent
    beams.sort()  # expect: SYN104
    beams.sort(key=lambda beam: beam.score, reverse=True)  # expect: SYN104
    beams.sort(key=lambda beam: beam.length)  # silent
    [x[0], x[1]].sort()  # expect: SYN104
    rows = [Row(x[0], 1), Row(x[1], 2)]
    sorted(rows)  # silent
    max(rows)  # expect: SYN104


def keep(x: torch.Tensor, names: list[str]):
    list(filter(lambda row: row > 0, [x[0]]))  # expect: SYN104
    for row in filter(None, [x[0], x[1]]):  # expect: SYN104
        row.item()  # expect: SYN101
    list(filter(None, names))  # silent
    list(filter(lambda row: row.shape[0] > 1, [x]))  # silent


compare(torch.ones(2, device="cuda"), flag=True)
keep(torch.ones(2, device="cuda"), ["a"])
