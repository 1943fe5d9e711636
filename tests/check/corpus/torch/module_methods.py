"""A method of a module works on tensors where the module is; a method that makes the module does not."""

import numpy as np
import torch
from torch import nn


class Cut(nn.Module):
    def __init__(self, weight: torch.Tensor, cut: float):
        super().__init__()
        self.cut = np.tanh(cut)
        self._measure(weight)

    def _measure(self, weight: torch.Tensor):
        self.size = weight.sum().item()  # expect: SYN101 (assumed)

    def inverse(self, inputs):
        right = inputs > self.cut
        outputs = torch.zeros_like(inputs)
        outputs[right] = inputs[right] / 2  # expect: SYN201 (inferred), SYN201 (inferred)
        return self.checked(outputs)

    def checked(self, x):
        return largest(x)


def largest(x):
    return x.max().item()  # expect: SYN101 (inferred)
