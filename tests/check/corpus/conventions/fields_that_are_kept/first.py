"""Fields that are declared to stay in host memory, and how others beside get them."""

import torch
from torch import nn

from fields import Field


def fields_of(inputs):
    return dict(
        pixels=Field.batched("image"),
        sizes=Field.batched("image", keep_on_cpu=True),
    )


class Sizes:
    pixels: torch.Tensor
    sizes: torch.Tensor


class Tower(nn.Module):
    def forward(self, pixels: torch.Tensor, grid: torch.Tensor):
        for h, w in grid.tolist():  # silent
            self.each(grid)
            pixels = pixels[:h, :w]
        return pixels.sum().item()  # expect: SYN101

    def each(self, grid):
        return [size.item() for size in grid]  # silent


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = Tower()

    def parse(self, **kwargs: object):
        sizes = kwargs.pop("sizes", None)
        print(sizes)  # silent
        return sizes

    def embed(self, inputs: Sizes):
        print(inputs.sizes)  # silent
        print(inputs.pixels)  # expect: SYN107 (assumed)
        return self.tower(inputs["pixels"], grid=inputs["sizes"])
