"""Python's own types read what they are given: as a number, a text, a member, or by the fields of a format."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
import enum, logging, traceback
from typing import NamedTuple, TypedDict
class State(TypedDict):
    pos: HELD
class Pos(NamedTuple):
    n: int
class Mode(enum.IntEnum):
    A = 0
class Rank(int): ...
class Row(list[HELD]): ...
class Pair(tuple[HELD, ...]): ...
class Bag(set[HELD]): ...
class Fixed(frozenset[HELD]): ...
class Label(str):
    def __new__(cls, x: HELD):
        return super().__new__(cls, x)
class Size(float):
    def __new__(cls, x: HELD):
        return float.__new__(cls, x)
class Req:
    n: HELD
    def __init__(self, x: HELD) -> None:
        self.n = x
    @property
    def size(self) -> int:
        return int(self.n)
class StepError(Exception):
    def __init__(self, x: HELD) -> None:
        self.x = x
    def __str__(self) -> str:
        return f"step {self.x}"
class PlainError(RuntimeError):
    def __init__(self, x: HELD) -> None:
        super().__init__(x)
def step(x: HELD, state: State, others: list[State], req: Req) -> object:
    BODY
"""
CAUGHT = "try: raise StepError(x)\n    except StepError: "
READS = {
    "comparison-of-typed-dicts": "return state == others[0]",
    "text-of-a-typed-dict": "return f'{state}'",
    "search-for-a-typed-dict": "return state in others",
    "field-of-a-format": "return 'n {0.n}'.format(req)",
    "property-in-a-format": "return 'n {r.size!r:>{w}}'.format(r=req, w=3)",
    "field-by-order": "return '{} {.n}'.format(1, req)",
    "field-by-order-among-names": "return '{w} {} {}'.format(x, 1, w=3)",
    "item-in-a-format": "return 'n {0[0].n}'.format([req])",
    "specification": "return 'n {:{r.n}}'.format(3, req, r=req)",
    "key-of-a-mapping": "return '{n}'.format_map({'n': x})",
    "format-that-is-not-known": "return str(others[:0]).format(req)",
    "text-of-a-list": "return str(Row([x]))",
    "comparison-of-lists": "return Row([x]) == Row([x])",
    "search-in-a-list": "return x in Row([x])",
    "text-of-a-tuple": "return f'{Pair([x])}'",
    "comparison-of-sets": "return Bag([x]) == Bag([x])",
    "text-of-a-frozen-set": "return str(Fixed([x]))",
    "logged-exception": f"{CAUGHT}logging.exception('failed')",
    "logged-by-keyword": f"{CAUGHT}logging.error('failed', exc_info=True)",
    "formatted-exception": f"{CAUGHT}return traceback.format_exc()",
    "arguments-of-an-exception": "raise PlainError(x)",
    "item-of-bytes": "b = bytearray(4)\n    b[0] = x",
    "slice-of-bytes": "b = bytearray(4)\n    b[1:] = [x, x]",
    "item-of-a-view": "memoryview(bytearray(4))[0] = x",
    "member": "return Mode(x)",
    "number": "return Rank(x + 1)",
    "text-above": "return Label(x)",
    "number-as-it-is": "return Rank(x)",
    "number-by-the-type": "return Size(x)",
    "named-tuple": "return range(Pos._make([x]).n)",
}
OPEN = {"format-that-is-not-known"}


@pytest.mark.parametrize("name", READS)
def test_a_type_of_python_reads_what_it_is_given(name: str) -> None:
    program = PROGRAM.replace("BODY", READS[name])
    assert not proved(program.replace("HELD", "torch.Tensor")).is_proved
    assert proved(program.replace("HELD", "int")).is_proved is (name not in OPEN)
