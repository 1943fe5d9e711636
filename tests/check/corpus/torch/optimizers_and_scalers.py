"""Optimizers of which the step reads the GPU, clipping that checks, and the scaler."""

import torch
from torch import nn


def train(model: nn.Module, loss):
    adam = torch.optim.Adam(model.parameters())
    adam.step()  # silent
    scaler = torch.amp.GradScaler("cuda")
    scaler.step(adam)  # expect: SYN502 (inferred)
    scaler.update()  # silent
    scaler.get_scale()  # expect: SYN103
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # silent
    norm.item()  # expect: SYN101
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)  # expect: SYN502
    with torch.amp.autocast("cuda"):
        torch.ones(1, device="cuda").item()  # expect: SYN101
