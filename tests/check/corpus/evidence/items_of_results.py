"""The evidence of one item of what a call returns is about this item."""

import torch


class Greedy:
    def update(self, tokens):
        done = torch.ones(1, device="cuda")  # at: done
        return tokens, done  # at: greedy


class Beam:
    def update(self, tokens):
        return torch.zeros(4, device="cuda"), len(tokens) > 3


class Task:
    def __init__(self, greedy: bool):
        self.decoder = Greedy() if greedy else Beam()

    def run(self, n):
        tokens = torch.full((4,), 2.0, device="cuda")  # at: tokens
        tokens, done = self.decoder.update(tokens)
        if done:  # expect: SYN104
            # because: greedy: `Greedy.update` returns the value
            # because: done: `torch.ones(1, device="cuda")` places the tensor on the GPU
            n += 1
        return n


def made(n):
    return torch.zeros(n, device="cuda"), torch.ones(n, device="cuda")  # at: pair


def second(n):
    pair = made(n)
    return pair[1].tolist()  # expect: SYN102
    # because: pair: `torch.ones(n, device="cuda")` places the tensor on the GPU
