"""A function named `test_...` that other code calls is no test. One named `..._init` that a step calls runs per step."""

import torch


def test_kernel():
    check(torch.ones(1, device="cuda"))


def check(x):
    return x.item()  # expect: SYN101 (once)


def test_net(x):
    return x.cuda().item()  # expect: SYN101 (unknown)


def detect(x):
    return test_net(x)


class Loss(torch.nn.Module):
    def mask_init(self, y):
        return y.cuda().item()  # expect: SYN101 (step)

    def bias_init(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (once)

    def forward(self, y):
        return self.mask_init(y)
