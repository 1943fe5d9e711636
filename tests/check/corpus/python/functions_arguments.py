"""Arguments reach the parameters that Python binds them to."""

import torch


def by_position(a, b):
    a.item()  # expect: SYN101
    b.item()  # silent


def by_name(a, b):
    a.item()  # silent
    b.item()  # expect: SYN101


def only_by_name(*, lens, rows):
    lens.item()  # silent
    rows.item()  # expect: SYN101


def with_default(a, b=None):
    if b is not None:
        b.item()  # expect: SYN101
    a.item()  # silent


def positional_only(a, /, b):
    a.item()  # expect: SYN101
    return b


gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
by_position(gpu, host)
by_name(b=gpu, a=host)
only_by_name(rows=gpu, lens=host)
with_default(host)
with_default(host, gpu)
positional_only(gpu, host)
