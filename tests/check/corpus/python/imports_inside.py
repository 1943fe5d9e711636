"""An import inside of a function binds there."""


def run():
    import torch
    from torch import nn as layers

    t = torch.ones(1, device="cuda")
    t.item()  # expect: SYN101
    return layers.functional.one_hot(t)  # expect: SYN206


def without():
    return torch.ones(1, device="cuda").item()  # silent: there is no such name here
