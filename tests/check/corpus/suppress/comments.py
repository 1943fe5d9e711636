"""A comment suppresses what it names on its line, or in what stands below it."""

import torch

t = torch.ones(1, device="cuda")
t.item()  # syncscan: ignore[SYN101] read once at the start
t.tolist()  # syncscan: ignore[SYN1] a whole group
t.item()  # syncscan: ignore[SYN102] another code # expect: SYN101, SYN001
# syncscan: ignore[SYN101] the line below
t.item()  # silent
t.item()  # expect: SYN101
total = t.sum().item() + t.max().item()  # syncscan: ignore[SYN101] both of them
text = "# syncscan: ignore[SYN101] in a text"
t.item()  # expect: SYN101
fine = 1  # syncscan: ignore[SYN101] nothing here # expect: SYN001
