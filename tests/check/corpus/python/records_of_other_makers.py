"""Records by attrs, by a call of namedtuple, and by a base of the project."""

import collections
from dataclasses import dataclass

import attrs
import torch
from attrs import define


@define
class Attrs:
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)


@attrs.define
class Dotted:
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)


Pair = collections.namedtuple("Pair", "ids lens")


@dataclass
class Base:
    lens: torch.Tensor


class Plain(Base):
    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)


class NoRecord:
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (assumed)


t = torch.ones(1, device="cuda")
Attrs(t), Dotted(lens=t), Plain(t), NoRecord(t)
Pair(t, t).lens.tolist()  # expect: SYN102
lens, ids = Pair(t, t)
