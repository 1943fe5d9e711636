"""An object from elsewhere that gathers tensors is none, and a name that nothing binds is no tensor."""

import torch
from somewhere import Trainer


class Mine(Trainer):
    def log(self, rewards):
        rewards = rewards.cuda()
        self.accelerator.gather(rewards.sum())  # silent
        lengths = self.accelerator.gather(rewards)
        print(lengths.float().mean().item())  # expect: SYN101


def floor(image: torch.Tensor):
    index = nothing.floor(image * 6.0)  # noqa: F821
    return nothing.arange(6, device=index.device)  # noqa: F821 # silent
