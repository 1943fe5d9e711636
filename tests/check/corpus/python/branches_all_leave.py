"""Behind branches that all leave nothing runs."""

import os
import sys

import pytest
import torch


def both(flag: bool):
    t = torch.ones(1, device="cuda")
    if flag:
        return 1
    else:
        raise ValueError
    t.item()  # silent


def exits(kind: int):
    t = torch.ones(1, device="cuda")
    if kind == 1:
        os._exit(1)
        t.item()  # silent
    elif kind == 2:
        exit()
        t.item()  # silent
    elif kind == 3:
        pytest.skip("no GPU")
        t.item()  # silent
    elif kind == 4:
        sys.stdout.write("x")
        t.item()  # expect: SYN101


def raised(kind: int):
    t = torch.ones(1, device="cuda")
    with pytest.raises(ValueError):
        raise ValueError(t)
    t.item()  # expect: SYN101
    with open("x") as file:
        return file
    t.item()  # silent


def tried():
    t = torch.ones(1, device="cuda")
    try:
        return t
    except ValueError:
        pass
    t.item()  # expect: SYN101


def matched(kind: int):
    t = torch.ones(1)
    match kind:
        case 1:
            t = torch.ones(1, device="cuda")
            return t
        case 2:
            t = torch.ones(2)
    return t.item()  # silent
