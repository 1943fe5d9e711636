"""The evidence of a result follows the arguments of the same call, and of no other call."""

import torch


def placed(data, device):
    return torch.empty(len(data), device=device)  # at: places


def wrapped(data, device):
    return placed(data, device)  # at: through


def first(x: torch.Tensor):  # at: tensor
    return placed([1], x.device).tolist()  # expect: SYN102 # at: call
    # because: places: `torch.empty(len(data), device=device)` places the tensor on the GPU
    # because: call: a call site passes `device` to `placed`
    # because: tensor: `x` is a tensor, and no code found places the tensor on the CPU


def second():
    values = wrapped([2], torch.device("cuda", 1))  # at: named
    return values.tolist()  # expect: SYN102
    # because: through: `wrapped` returns the value
    # because: places: `torch.empty(len(data), device=device)` places the tensor on the GPU
    # because: through: a call site passes `device` to `placed`
    # because: named: this line names the device


class Holder:
    def __init__(self, index=0):
        self.values = placed([3], torch.device("cuda", index))  # at: held

    def read(self):
        return self.values.tolist()  # expect: SYN102
        # because: held: an assignment sets `self.values`
        # because: places: `torch.empty(len(data), device=device)` places the tensor on the GPU
        # because: held: this line names the device
