"""A method of a base class does not run for a class that replaces it: the properties of that class are not read there."""

import torch
from torch import nn


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(()))

    @property
    def threshold(self):
        return torch.nan_to_num(self.kept)

    def scale(self, x):
        return x - self.threshold  # silent: the class whose property blocks has its own

    def shift(self, x):
        return x + self.threshold  # expect: SYN501

    def mark(self, x):
        return x > self.threshold  # expect: SYN501


class Checked(Scores):
    @property
    def threshold(self):
        return self.kept if self.kept.isnan() else torch.zeros(())  # expect: SYN104

    def scale(self, x):
        return x * self.threshold  # expect: SYN501

    def mark(self, x):
        return super().mark(x * 2)
