"""A comment that is not understood is said."""

import torch

t = torch.ones(1, device="cuda")
t.item()  # syncscan: ignore[SYN999] no such code # expect: SYN001, SYN101
t.item()  # syncscan: ignroe[SYN101] # expect: SYN001, SYN101
t.item()  # syncscan: ignore # expect: SYN001, SYN101
