"""Initialisers fill a tensor in place, and some upload what they computed on the host (measured on an H200, torch 2.11)."""

import torch
from torch import nn


def run():
    weight = torch.empty(32, 32, device="cuda")
    nn.init.normal_(weight).sum().item()  # expect: SYN101
    nn.init.trunc_normal_(weight, std=0.02)  # silent
    nn.init.orthogonal_(weight)  # silent
    nn.init.sparse_(weight, 0.1)  # expect: SYN302
    nn.init.dirac_(torch.empty(4, 4, 3, device="cuda"))  # expect: SYN302
    nn.init.sparse_(torch.empty(32, 32), 0.1)  # silent


def lengths():
    padded = torch.ones(3, 5, device="cuda")
    nn.utils.rnn.unpad_sequence(padded, torch.arange(3, device="cuda"))  # expect: SYN206
    nn.utils.rnn.unpad_sequence(padded, torch.tensor([1, 2, 3]))  # silent
    torch.fft.fftfreq(8, device="cuda").tolist()  # expect: SYN102
    torch.range(0, 4, device="cuda").tolist()  # expect: SYN102
    mask = nn.Transformer.generate_square_subsequent_mask(8, device="cuda")
    mask.tolist()  # expect: SYN102
