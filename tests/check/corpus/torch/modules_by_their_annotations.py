"""A module of torch that an annotation names is on the GPU with its parameters, as an object without an annotation is."""

from dataclasses import dataclass
from typing import List, Optional

import torch
from torch import nn


def total(model: nn.Module, unknown):
    for parameter in model.parameters():
        parameter.grad.norm().item()  # expect: SYN101
    for _, buffer in model.named_buffers():
        buffer.sum().item()  # expect: SYN101
    for parameter in unknown.parameters():
        parameter.grad.norm().item()  # expect: SYN101


def prune(layer: nn.Linear, keep: list[int], x):
    layer.weight.data[keep].sum()  # expect: SYN305
    return layer(x).sum().item()  # expect: SYN101


def of_each(models: List[nn.Module], other: Optional[nn.Module] = None):
    for model in models:
        for parameter in model.parameters():
            parameter.sum().item()  # expect: SYN101
    for parameter in other.parameters():
        parameter.sum().item()  # expect: SYN101


@dataclass
class State:
    model: nn.Module

    def norm(self):
        for parameter in self.model.parameters():
            parameter.sum().item()  # expect: SYN101


def made() -> nn.Module: ...


def of_a_result(unknown):
    for parameter in made().parameters():
        parameter.sum().item()  # expect: SYN101
    model: nn.Module = unknown()
    for parameter in model.parameters():
        parameter.sum().item()  # expect: SYN101


def on_host():
    layer = nn.Linear(4, 4)
    for parameter in layer.parameters():
        parameter.sum().item()  # silent: nothing moves the layer
    of_a_layer(layer)


def of_a_layer(layer: nn.Module):
    for parameter in layer.parameters():
        parameter.sum().item()  # silent: the caller's layer is on the host
