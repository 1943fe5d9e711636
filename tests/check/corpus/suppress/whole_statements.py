"""A comment behind the end or the head of a statement speaks of all of it."""

import torch

t = torch.ones(1, device="cuda")
total = sum(
    [
        t.item(),  # silent
        t.max().item(),  # silent
    ]
)  # syncscan: ignore[SYN101] both are read at the start
if (
    t.item()  # silent
    > 1
):  # syncscan: ignore[SYN101] the head of the branch
    t.tolist()  # expect: SYN102
other = [
    t.item(),  # syncscan: ignore[SYN101] the one on this line
    t.item(),  # expect: SYN101
]
