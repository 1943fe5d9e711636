"""A store to an attribute that another one replaces before anybody can read it, is no value of the attribute."""

import torch


class Schedule:
    def set_timesteps(self, n: int):
        sigmas = torch.linspace(1, 0, n, device="cuda")
        self.sigmas = torch.cat([sigmas, torch.zeros(1, device="cuda")])
        self.index = 0
        self.sigmas = self.sigmas.to("cpu")  # expect: SYN105

    def step(self):
        return float(self.sigmas[self.index])  # silent


class Read:
    def set_timesteps(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        self.show()
        self.sigmas = self.sigmas.to("cpu")  # expect: SYN105

    def show(self):
        self.sigmas.tolist()  # expect: SYN102


class Handed:
    def __init__(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        show(self)
        self.sigmas = self.sigmas.to("cpu")  # expect: SYN105


def show(handed: Handed):
    return handed.sigmas.tolist()  # expect: SYN102


class Perhaps:
    def __init__(self, n: int, on_host: bool):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        if on_host:
            self.sigmas = torch.linspace(1, 0, n)

    def step(self):
        return float(self.sigmas[0])  # expect: SYN103


class Until:
    def __init__(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        if n > 3:
            return
        self.sigmas = torch.linspace(1, 0, n)

    def step(self):
        return float(self.sigmas[0])  # expect: SYN103


class Property:
    @property
    def first(self):
        return self.sigmas.sum().item()  # expect: SYN101

    def run(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        first = self.first  # expect: SYN501
        self.sigmas = torch.linspace(1, 0, n)
        return first


class Elsewhere:
    def run(self, n: int):
        this = self
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        this.show()
        self.sigmas = torch.linspace(1, 0, n)

    def show(self):
        return self.sigmas.tolist()  # expect: SYN102


class Generated:
    def run(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")
        yield n
        self.sigmas = torch.linspace(1, 0, n)

    def show(self):
        return self.sigmas.tolist()  # expect: SYN102
