"""A part of a module of which nothing is known gives what is where the module is, and so does a module that was moved."""

import torch
from somewhere import build, registered
from torch import nn


class Net(nn.Module):
    def __init__(self, encoder, cfg):
        super().__init__()
        self.encoder = encoder
        self.head = build(cfg)
        self.count = len(cfg)

    def forward(self, x: torch.Tensor):
        h = self.head(x)
        h[h > 0]  # expect: SYN201 (inferred)
        self.encoder(x).max().item()  # expect: SYN101 (inferred)
        if self.count > 3 or registered(x) > 3:  # silent: nothing is known of that
            return self.encoder(3).max().item()  # silent: nothing is passed that is on the GPU
        return self.encoder.sizes(x).item()  # silent: it may be anything


def train(model, loader, device: str):
    for batch in loader:
        x, y = batch
        out = model(x)
        y = y.to(device)  # expect: SYN302
        loss = nn.functional.cross_entropy(out, y)
        print(loss.item())  # expect: SYN101 (inferred)
        right = (out.argmax(1) == y).sum().item()  # expect: SYN101 (inferred)
        shown = y - out if right else right
        shown.tolist()  # silent: it may be a number


def act(policy: nn.Module, obs, device):
    chosen = policy.to(device).distribution(obs)
    return chosen.cpu()  # silent: nothing is known of what a module does


class Agent:
    policy: Net

    def __init__(self, make, device):
        self.policy = make().to(device)

    def act(self, x: torch.Tensor):
        return self.policy.forward(x.cuda())
