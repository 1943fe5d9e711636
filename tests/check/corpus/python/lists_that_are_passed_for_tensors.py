"""Who passes a list of numbers passes no tensor; who passes a list of anything else may as well pass one."""

import torch


def rows(table: torch.Tensor, index: torch.Tensor):
    return table[index]  # expect: SYN305


def heights(sizes: torch.Tensor):
    return [h.item() for h in sizes]  # silent


def host(values: torch.Tensor):
    return values.cuda().sum().item()  # expect: SYN101


def use(things):
    table = torch.ones(4, 4, device="cuda")
    heights([(1, 2), (3, 4)])
    host([thing.value for thing in things])
    return rows(table, [0, 1])
