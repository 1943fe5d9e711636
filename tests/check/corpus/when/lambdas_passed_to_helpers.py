"""A helper runs the functions of all its callers; a lambda runs when the function that passes it does."""

import torch


def apply_to(data, test, function):
    if isinstance(data, dict):
        return {key: apply_to(value, test, function) for key, value in data.items()}
    return function(data) if test(data) else data  # expect: SYN104 (step)


class Model(torch.nn.Module):
    def forward(self, data: torch.Tensor):
        return apply_to(data, lambda x: x.sum() > 3, lambda x: x.tolist())  # expect: SYN102 (step)


class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.activation = Wrapper(lambda x: x.tolist())  # expect: SYN102 (step)

    def forward(self, data: torch.Tensor):
        return self.activation.apply(data)


class Wrapper:
    def __init__(self, function):
        self.function = function

    def apply(self, x):
        return self.function(x)


def save_checkpoint(path):
    state = {"a": torch.ones(3, device="cuda")}
    state = apply_to(state, lambda x: True, lambda x: x.cpu())  # expect: SYN105 (once)
    torch.save(state, path)  # silent
