"""Comprehensions have names of their own, and hold what their element is."""

import torch


def run(n: int):
    t = torch.ones(1)
    rows = [torch.ones(4, device="cuda") for t in range(n)]
    rows[0].tolist()  # expect: SYN102
    t.item()  # silent
    numbers = [row.sum().item() for row in rows]  # expect: SYN101
    by_name = {str(i): row for i, row in enumerate(rows)}
    by_name["0"].tolist()  # expect: SYN102
    kept = [row for row in rows if row.any()]  # expect: SYN104 `row.any()`
    both = {row for pair in zip(rows, rows) for row in pair}
    for row in both:
        row.tolist()  # expect: SYN102
    lazy = (row + 1 for row in rows)
    total = sum(row.mean() for row in rows)
    total.item()  # expect: SYN101
    return numbers, kept, next(lazy).tolist()  # expect: SYN102
