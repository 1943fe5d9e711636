"""What Accelerate gathers and reduces over ranks lies where it lay."""

import torch
from accelerate import Accelerator
from accelerate.utils import gather, reduce


class Trainer:
    def __init__(self, settings):
        self.accelerator = Accelerator(mixed_precision=settings.precision)

    def log(self, rewards: torch.Tensor):
        rewards = rewards.cuda()
        print(gather(rewards).mean().item())  # expect: SYN101
        print(self.accelerator.gather(rewards).cpu())  # expect: SYN105
        print(self.accelerator.gather_for_metrics(rewards).tolist())  # expect: SYN102
        print(reduce(rewards, "mean").cpu())  # expect: SYN105
        print(self.accelerator.reduce(rewards, "sum").cpu())  # expect: SYN105
        print(gather(rewards.cpu()).mean().item())  # expect: SYN105
        print(gather(torch.ones(3)).mean().item())  # silent
        loss, names = gather((rewards, ["a"]))
        return loss.item(), names  # expect: SYN101
