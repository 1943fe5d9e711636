"""A function that computes gradients is a training step, whatever calls it; what only hands ``backward`` on is none."""

import torch


class Trainer:
    def learn(self, loss):
        loss.backward()
        self.optimizer.step()
        return loss.item()  # expect: SYN101 (step)

    def backward(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        return loss.item()  # expect: SYN101 (step)


class Table:
    def __init__(self, values: list[torch.Tensor]):
        self.values = values

    def backward(self):
        self.values[0].backward()
        self.values[0].cuda().sum().item()  # expect: SYN101 (unknown)


on_gpu = torch.ones(3, device="cuda", requires_grad=True).sum()
Trainer().learn(on_gpu)
Trainer().backward(on_gpu)
