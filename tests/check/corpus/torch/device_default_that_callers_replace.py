"""A default of the host that no call in the project replaces is assumed: callers outside may name the GPU."""

import torch


class Runner:
    def __init__(self, env, device: str = "cpu"):
        self.env = env
        self.device = device
        self.sums = torch.zeros(4, device="cuda")

    def step(self, rewards: torch.Tensor):
        done = rewards.to(self.device).nonzero()  # expect: SYN105 (assumed)
        self.sums[done] += 1  # expect: SYN305 (assumed)
        self.sums[torch.arange(4)] += 1  # expect: SYN305 (inferred)
        return done.tolist()  # silent


def first(device: torch.device = torch.device("cpu")):
    return torch.zeros(4, device=device).cuda()  # expect: SYN302 (assumed)


def parsed(x: torch.Tensor, device: str | torch.device = "cpu"):
    if isinstance(device, str):
        device = torch.device(device)
    index = torch.zeros(4, dtype=torch.long, device=device)
    x.cuda()[index] += 1  # expect: SYN305 (assumed)
    return torch.ones(4).to(device)  # silent


def passed(device: str = "cpu"):
    return torch.zeros(4, device=device).cuda()  # expect: SYN302 (inferred)


passed("cpu")
