"""isinstance tells the classes of the project apart."""

import numpy as np
import torch


class Host:
    def propose(self):
        return np.zeros(3)


class Device:
    def propose(self):
        return torch.zeros(3, device="cuda")


class Runner:
    def __init__(self, fast: bool):
        self.drafter = Device() if fast else Host()

    def step(self):
        if isinstance(self.drafter, Device):
            return self.drafter.propose().tolist()  # expect: SYN102
        return self.drafter.propose().tolist()  # silent
