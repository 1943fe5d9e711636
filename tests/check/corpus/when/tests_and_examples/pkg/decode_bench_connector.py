"""A part of the program that only measures, or shows how it is done, by a word of its file's name."""

import torch


def fill():
    torch.ones(1, device="cuda").item()  # expect: SYN101 (test)
