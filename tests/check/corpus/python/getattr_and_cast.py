"""`getattr` with a constant name reads an attribute; `cast` changes nothing at run time."""

import copy
from typing import cast

import torch
from backend import lease


class Batch:
    def __init__(self):
        self.lens = torch.ones(4, device="cuda")


def run(batch: Batch, name: str):
    getattr(batch, "lens").tolist()  # expect: SYN102
    getattr(batch, "lens", None).tolist()  # expect: SYN102
    getattr(batch, name)  # silent
    cast(torch.Tensor, batch.lens).tolist()  # expect: SYN102
    other = cast(Batch, lease())
    other.lens.tolist()  # expect: SYN102
    copied = copy.copy(batch)
    copied.lens.tolist()  # expect: SYN102
    deep = copy.deepcopy(batch.lens)
    return deep.tolist()  # expect: SYN102
