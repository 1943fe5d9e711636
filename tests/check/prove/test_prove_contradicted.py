"""A tensor that the project's own code puts somewhere counts against an annotation that excludes tensors."""

from __future__ import annotations

import pytest

from tests.check.changing import source
from tests.check.prove.proving import proved, proved_in_turn

DEFINITIONS = """
from dataclasses import dataclass
from typing import NamedTuple
def loss_of(x: torch.Tensor, n: int) -> float:
    return VALUE
def put(m: list[int], x: torch.Tensor, n: int) -> None:
    m.append(VALUE)
def pair_of(x: torch.Tensor, n: int) -> tuple[int, int]:
    return 1, VALUE
@dataclass
class Slot:
    n: int
class Pos(NamedTuple):
    n: int
class Held:
    n: int
    tags: list[int]
    def __init__(self) -> None:
        self.n, self.tags, self.seen = 0, [], 0
        self.m: int = 0
        self.names: list[int] = []
    def add(self, n: int) -> None:
        self.n += n
    def keep(self, x: torch.Tensor, n: int) -> None:
        self.m = VALUE
        self.tags.append(VALUE)
        self.names.append(VALUE)
    @property
    def size(self) -> int:
        return self.n + 1
    @classmethod
    def made(cls, x: torch.Tensor, n: int) -> int:
        return VALUE
def step(x: torch.Tensor, n: int) -> range:
    held = Held()
    BODY
"""
SITES = {
    "result": "return range(loss_of(x, n))",
    "result-in-a-tuple": "return range(pair_of(x, n)[1])",
    "result-of-a-method": "return range(Held.made(x, n))",
    "field-of-a-dataclass": "return range(Slot(VALUE).n)",
    "field-of-a-named-tuple": "return range(Pos(n=VALUE).n)",
    "attribute-of-a-class": "held.add(VALUE)\n    return range(held.n)",
    "property": "held.add(VALUE)\n    return range(held.size)",
    "attribute-of-a-method": "held.keep(x, n)\n    return range(held.m)",
    "items-of-a-class": "held.keep(x, n)\n    return range(held.tags[0])",
    "items-of-a-method": "held.keep(x, n)\n    return range(held.names[0])",
    "by-name": "setattr(held, 'n', VALUE)\n    return range(held.n)",
    "variable": "m: int = VALUE\n    return range(m)",
    "variable-in-a-list": "m: list[int] = [VALUE]\n    return range(m[0])",
    "item-of-a-variable": "m: list[int] = []\n    m.append(VALUE)\n    print(len(m), m is None)\n    return range(m[0])",
    "item-under-another-name": "m: list[int] = []\n    same = m\n    same.append(VALUE)\n    return range(m[0])",
    "key-under-another-name": "m: dict[int, int] = {}\n    same = m\n    same[0] = VALUE\n    return range(m[0])",
    "item-that-a-function-appends": "m: list[int] = []\n    put(m, x, n)\n    return range(m[0])",
    "slice-set": "m: list[int] = [1]\n    m[:] = [VALUE]\n    return range(m[0])",
    "item-set": "m: list[int] = [1]\n    m[0] = VALUE\n    print(len(m), m is None)\n    return range(m[0])",
}


@pytest.mark.parametrize("body", SITES.values(), ids=SITES)
def test_an_annotation_does_not_hold_for_a_tensor_that_the_code_puts_there(body: str) -> None:
    program = DEFINITIONS.replace("BODY", body)
    assert not proved(program.replace("VALUE", "x.sum().long()")).is_proved
    assert proved(program.replace("VALUE", "n + 1")).is_proved


FIELDS = """
import torch
from dataclasses import dataclass
@dataclass
class Slot:
    n: int
def step(slot: Slot) -> range:
    return range(slot.n)
"""
MAKING = """
from nets import Slot
import torch
def other(x: torch.Tensor) -> None:
    Slot(VALUE)
"""


def test_a_field_that_another_file_sets_is_known_to_a_proof_from_kept_walks() -> None:
    versions = [
        {"nets": source("nets", FIELDS), "main": source("main", MAKING.replace("VALUE", value))}
        for value in ("1", "x.sum()")
    ]
    found = [each.is_proved for each in proved_in_turn("nets:step", *versions, *versions)]
    assert found == [True, False, True, False]
