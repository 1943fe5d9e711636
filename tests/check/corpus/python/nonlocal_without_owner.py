"""`nonlocal` goes out as far as the name is bound; a deeper function may rebind it."""

import torch


def outer():
    t = torch.ones(1)

    def middle():
        def inner():
            nonlocal t
            t = torch.ones(1, device="cuda")

        return inner

    middle()()
    return t.item()  # todo: SYN101


def lists():
    rows = []
    seen = {}

    def add():
        nonlocal rows
        rows.append(torch.ones(1, device="cuda"))
        seen["a"] = torch.ones(1, device="cuda")

    add()
    rows[0].item()  # todo: SYN101
    return seen["a"].item()  # todo: SYN101
