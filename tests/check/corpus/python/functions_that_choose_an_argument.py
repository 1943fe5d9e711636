"""A function that returns one of its arguments gives each caller its own."""

import torch


def exists(value):
    return value is not None


def first(*values):
    for value in values:
        if exists(value):
            return value() if callable(value) else value
    return None


def either(value, other):
    return value if exists(value) else other


def masked(mask=None):
    mask = first(mask, lambda: torch.ones(4, device="cuda"))
    if mask.any():  # expect: SYN104
        return either(mask, torch.ones(4, device="cuda"))
    return first(mask, torch.ones(4, device="cuda"))


def counted(count=None, size=None):
    count, size = first(count, 0), first(size, lambda: 4)
    if count > 0:  # silent
        return either(size, 1) > 3
    if size > 2 and either(count, 2):  # silent
        return 1
    return first(count, size)
