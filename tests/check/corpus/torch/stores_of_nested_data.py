"""A tensor of nested lists has a dimension for each level, and no store of several elements is a fill."""

import torch


def store(table: torch.Tensor, rows: list[list[float]], numbers: list[float]) -> None:
    table[:2] = torch.tensor([[1.0, 2, 3]])  # expect: SYN307
    table[:2] = torch.tensor([(1.0, 2, 3), (4.0, 5, 6)])  # expect: SYN307
    table[:2] = torch.tensor(rows)  # expect: SYN307
    table[:2] = torch.tensor([numbers, numbers])  # expect: SYN307
    table[:2] = torch.tensor([[[number] for number in row] for row in rows])  # expect: SYN307
    table[:2] = torch.as_tensor(rows)  # expect: SYN307
    table[:2] = torch.tensor(numbers[0])  # silent: a fill


def store_of_tensors(table: torch.Tensor, scalars: list[torch.Tensor]) -> None:
    table[:2] = torch.tensor([[scalars[0].item(), 2.0]])  # expect: SYN101, SYN307


def run() -> None:
    table = torch.zeros(2, 3, device="cuda")
    store(table, [[1.0, 2, 3]], [1.0, 2, 3])
    store_of_tensors(table, [torch.ones((), device="cuda")])
