"""What is stored in a tensor through a mask is a tensor of the same device, unless it is known to be a number."""

import torch
from torch import nn

from elsewhere import fill, solve


class Piecewise(nn.Module):
    def forward(self, inputs: torch.Tensor):
        inside, outputs, rest = inputs > 0, torch.zeros_like(inputs), torch.zeros_like(inputs)
        outputs[inside], rest[inside] = solve(inputs)  # expect: SYN201, SYN201
        outputs[inside] = solve(inputs)  # expect: SYN201
        outputs[inside] = fill  # silent: it may be a number
        outputs[inside] = 0  # silent
        return outputs, rest


def on_host(rows):
    outputs = torch.zeros(4)
    outputs[outputs > 0] = solve(rows)  # silent: the mask is on the host


def shift(rows):
    return rows + 1, rows.sum() + 1


def anywhere(rows):
    outputs, logs, inside = torch.zeros_like(rows), torch.zeros_like(rows), rows > 0
    outputs[inside], logs[inside] = shift(rows[inside])  # expect: SYN201, SYN201, SYN201


anywhere(torch.zeros(4))
anywhere(torch.zeros(4, device="cuda"))
