"""A decorator makes a record only if it is one that does."""

import dataclasses
import typing
import unittest

import torch


@typing.final
class Final:
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (assumed)


@dataclasses.dataclass(slots=True)
class Record:
    lens: torch.Tensor

    def read(self):
        return self.lens.tolist()  # expect: SYN102 (inferred)


class Case(unittest.TestCase):
    def run_it(self):
        t = torch.ones(1, device="cuda")
        with self.assertRaises(ValueError):
            raise ValueError
        t.item()  # expect: SYN101
        with self.assertRaisesRegex(ValueError, "x"):
            raise ValueError
        t.item()  # expect: SYN101
        with self.subTest():
            raise ValueError
        t.item()  # silent


Final(torch.ones(1, device="cuda")), Record(torch.ones(1, device="cuda"))
