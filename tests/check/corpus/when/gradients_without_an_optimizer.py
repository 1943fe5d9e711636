"""A function that computes gradients where nothing has an optimizer is no training step: they are for display, or choose a feature."""

import torch


class Explainer:
    def attribute(self, loss):
        loss.backward()
        return loss.item()  # expect: SYN101 (unknown)


class Accelerated:
    def learn(self, loss):
        self.accelerator.backward(loss)
        return loss.item()  # expect: SYN101 (step)


class Table:
    def __init__(self, values: list[torch.Tensor]):
        self.values = values

    def backward(self):
        for each in self.values:
            each.backward()
        self.values[0].cuda().sum().item()  # expect: SYN101 (unknown)


on_gpu = torch.ones(3, device="cuda", requires_grad=True).sum()
Explainer().attribute(on_gpu)
Accelerated().learn(on_gpu)
