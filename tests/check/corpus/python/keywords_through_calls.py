"""What `**options` brings reaches the parameters of its names, and what `**kwargs` takes keeps its names."""

import torch


def step(norm, y, **rest):
    norm(y).item()  # expect: SYN101
    rest["host"].tolist()  # silent
    rest["gpu"].tolist()  # expect: SYN102 (inferred)
    return outer(**rest)


def outer(host, gpu=None, **more):
    host.tolist()  # silent
    return gpu.tolist()  # expect: SYN102 (inferred)


class Base:
    def use(self, *args, **kwargs):
        raise NotImplementedError


class Below(Base):
    def use(self, host, **kwargs):
        host.tolist()  # silent
        return kwargs["gpu"].tolist()  # expect: SYN102 (inferred)


def run(base: Base):
    options = {"norm": lambda t: t.abs().max()}
    options["y"] = torch.ones(4, device="cuda")
    inputs = dict(host=torch.ones(1), gpu=torch.ones(1, device="cuda"))
    base.use(**inputs)
    return step(**options, **inputs)


class Stage:
    def apply(self, x, mask=None, **kwargs):
        raise NotImplementedError


class Named(Stage):
    def apply(self, x, mask=None, lens=None):
        mask.item()  # expect: SYN101
        return lens.tolist()  # expect: SYN102


class Passing(Stage):
    def apply(self, x, **kwargs):
        kwargs["mask"].item()  # expect: SYN101
        kwargs["scale"].item()  # expect: SYN101
        return kwargs["lens"].tolist()  # silent: who passes it has one that names it


def apply(stage: Stage):
    lens = torch.ones(4, device="cuda")
    return stage.apply(1, mask=lens, lens=lens, scale=lens)
