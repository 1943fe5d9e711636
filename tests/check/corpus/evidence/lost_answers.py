"""An answer that the final values hide is still the evidence: the answer came first."""

import torch
from requests_of_others import lease


class Metadata:
    temperature: torch.Tensor = None  # at: declared

    def expand(self, repeats: int):
        # The attribute now holds what was made of itself, so that its annotation is asked no more.
        self.temperature = torch.repeat_interleave(self.temperature.view(-1), repeats)
        self.temperature.tolist()  # expect: SYN102 (assumed)
        # because: declared: `temperature` is a tensor, and no code found places the tensor on the CPU


class Resampler(torch.nn.Module):
    def forward(self, sizes: torch.Tensor):  # at: sizes
        sizes.tolist()  # expect: SYN102 (inferred)
        # because: sizes: `sizes` is a tensor, and no code found places the tensor on the CPU
        return sizes


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.resampler = Resampler()

    def forward(self, items):
        # The name answers in the round in which the parameter does, and disagrees.
        return self.resampler(items.sizes_cpu)


def shared(tensor: torch.Tensor):
    if not tensor.is_cpu:
        tensor = tensor.cpu()  # expect: SYN105 (inferred) # at: tested
        # because: tested: a test selects this branch for `tensor` on the GPU
    return tensor


def share():
    item = lease()
    if item.feature.is_cpu:
        shared(item.feature)
