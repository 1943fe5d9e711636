"""A guard of a case is tested, and its pattern binds."""

import torch


def choose(mode: int, x: torch.Tensor | None):
    flag = torch.zeros(1, device="cuda")
    row = torch.zeros(1, device="cuda")
    rest = torch.zeros(1, device="cuda")
    match mode:
        case 1 if flag.any():  # expect: SYN104
            return rest
        case row:
            return row.item()  # silent: the pattern binds a number to this name


def parts(pair: tuple[torch.Tensor, torch.Tensor]):
    match (torch.zeros(1), torch.zeros(1, device="cuda")):
        case (a, b):
            a.item()  # silent
            b.item()  # expect: SYN101
