import torch

t = torch.ones(1, device="cuda")
t.item()  # syncscan: ignore[SYN101] the scheduler needs it
t.item()  # syncscan: ignore[SYN101] # expect: SYN001
