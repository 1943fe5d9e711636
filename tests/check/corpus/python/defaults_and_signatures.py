"""A truth value or a text as the default says that what a dictionary holds is no tensor; a call runs what can take its arguments."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, data: dict[str, torch.Tensor]):
        if data.pop("last", False):  # silent
            return 1
        kind = data.get("kind", "none")
        if kind:  # silent
            return data.get("rows", None).tolist()  # expect: SYN102
        return 2


def scaled(x, scale, least, bits, size, v=0):
    return x * scale + least + bits + size + v


def centred(x, scale, bits, v=0):
    return x * scale * 2 ** int(bits)  # silent


def shifted(x, scale, bits, v=0, **more):
    return x * scale * 2 ** int(bits)  # expect: SYN103


def run(kind, x: torch.Tensor):
    quantize = centred if kind == "a" else scaled if kind == "b" else shifted
    least = torch.zeros((), device="cuda")
    quantize(x, 1.0, least, more=2)
    return quantize(x, 1.0, least, 4, 8, v=1)
