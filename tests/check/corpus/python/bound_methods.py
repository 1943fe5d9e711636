"""A method that is stored or passed on keeps its object."""

import torch


class Sampler:
    def __init__(self):
        self.bias = torch.ones(4, device="cuda")

    def read(self, t):
        return (t + self.bias).tolist()  # expect: SYN102

    def bias_of(self):
        return self.bias


class Loop:
    def __init__(self, sampler: Sampler):
        self.get = sampler.bias_of
        self.sample = sampler.read

    def step(self):
        self.sample(torch.ones(4))
        return self.get().tolist()  # expect: SYN102


def call(function):
    return function().tolist()  # expect: SYN102


Loop(Sampler()).step()
call(Sampler().bias_of)
