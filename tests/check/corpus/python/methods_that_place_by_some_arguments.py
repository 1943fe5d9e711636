"""A method of several classes, each of which puts its result where another argument says, or where none does."""

import torch


class Maker:
    def make(self, size, device):
        raise NotImplementedError

    def fixed(self, size, device):
        raise NotImplementedError


class Zeros(Maker):
    def make(self, size, device):
        return torch.zeros(size, device=device)

    def fixed(self, size, device):
        return torch.zeros(size, device=device)


class Ones(Maker):
    def make(self, size, device):
        return torch.ones(size, device=device)

    def fixed(self, size, device):
        return torch.ones(size, device="cuda")


def use(maker: Maker):
    maker.make(4, "cpu").tolist()  # silent
    maker.fixed(4, "cpu").tolist()  # expect: SYN102
    maker.make(4, "cuda").tolist()  # expect: SYN102
    return maker.fixed(4, "cuda").tolist()  # expect: SYN102
