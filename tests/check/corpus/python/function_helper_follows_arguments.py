"""A helper works where its arguments live, and returns to where each caller is."""

import torch


def pad(t: torch.Tensor, size: int):
    return torch.cat([t, t.new_zeros(size - t.shape[0])])


def run():
    on_host = pad(torch.ones(4), 8)
    on_gpu = pad(torch.ones(4, device="cuda"), 8)
    on_host.sum().item()  # silent
    on_gpu.sum().item()  # expect: SYN101


def padded(t, n):
    return torch.cat([t, t.new_zeros(n)])


class Batch:
    def __init__(self, lens, tokens):
        self.ids = padded(torch.zeros(4, device="cuda"), 2)
        self.lens = padded(lens, 2)

    def read(self):
        padded(torch.zeros(4), 2).sum().item()  # silent
        self.lens.sum().item()  # silent: nobody is seen to pass it
        return self.ids.sum().item()  # expect: SYN101
