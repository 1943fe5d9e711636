"""Only a tensor takes a mask of the GPU as index: of several kinds of value, that is what the mask indexes."""

from typing import Optional, Union

import torch


def rows_of(kind: str):
    if kind == "numbers":
        return [1, 2, 3]
    return torch.zeros(8, device="cuda") if kind == "gpu" else None


def pick(kind: str):
    mask = torch.ones(8, device="cuda") > 0
    rows = rows_of(kind)
    rows[:, mask]  # expect: SYN201
    rows[mask] = torch.ones(3, device="cuda")  # expect: SYN201
    rows[mask] = 0  # silent: masked_fill_ does not count
    return rows[mask]  # expect: SYN201


def pick_one(kind: str):
    flag = torch.ones(8, device="cuda").sum()
    rows = [1, 2, 3] if kind == "numbers" else torch.zeros(8, device="cuda")
    return rows[0], flag  # silent


def on_host(kind: str):
    mask = torch.ones(8) > 0
    rows = [1, 2, 3] if kind == "numbers" else torch.zeros(8)
    return rows[mask]  # silent


class Pointer:
    """The place of a tensor on another rank."""


def scattered(values, mask: Union[torch.Tensor, Pointer]):
    """Only the tensor among the options of a mask indexes."""
    there = values[mask]  # expect: SYN201
    rows = torch.zeros(8, 3, device="cuda")
    rows[Pointer()]  # silent
    return there, rows[mask]  # expect: SYN201


class Graph:
    """Edges that may be absent, in a table that nothing is known of."""

    @property
    def edges(self) -> Optional[torch.Tensor]:
        return self["edges"] if "edges" in self.table else None


def edges_of(graph: Graph):
    inside = torch.arange(4, device="cuda") > 2
    return graph.edges[:, inside]  # expect: SYN201


def edges_on_host(graph: Graph):
    inside = torch.arange(4) > 2
    return graph.edges[:, inside]  # silent
