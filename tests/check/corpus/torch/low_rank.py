"""A decomposition of low rank reads a status from the GPU, and its results are tensors there."""

import torch
from torch import nn


class Compressed(nn.Module):
    def forward(self, weight):
        _, values, _ = torch.svd_lowrank(weight, q=4)  # expect: SYN502
        if values[0] > 0:  # expect: SYN104
            return torch.pca_lowrank(weight)  # expect: SYN502
        return torch.svd_lowrank(torch.zeros(4, 4, device="cpu"))  # silent
