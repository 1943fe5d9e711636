"""A fix is the same code in whatever layout a statement is written, and keeps the comments that stand in it."""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize

import pytest

from syncscan.check.fix import apply_edits, fixable
from tests.texts import check_texts

HEAD = """\
import numpy as np
import torch

def g(d: torch.device, f):
    d = torch.device('cuda')
    a = torch.zeros(8, device='cuda')
    t = torch.zeros((8, 8), device='cuda')
    n = torch.arange(3, device='cuda')
    pinned = torch.zeros(8, pin_memory=True)
    array = np.arange(8)
    lens = [1, 2]
"""
STATEMENTS = """\
y = torch.tensor(1.0, device="cuda")
y = torch.tensor([1, 2], dtype=torch.int32, device=d,)
y = (torch.tensor(lens, device="cuda"))
y = torch.tensor([0] * len(lens), dtype=torch.int64, device="cuda")
y = torch.tensor((7,), device="cuda")
y = torch.tensor([a.sum(), a.max()], device="cuda",)
y = torch.tensor([n.sum(), n.max()], device=d)
y = (pinned).to(d)
y = pinned.cuda()
y = (1 - torch.eye(8)[None]).to(a)
y = (torch.zeros(8)).cuda()
y = (torch.arange(8) < 3).to("cuda",)
y = (-torch.arange(8)[:, None]).float().to("cuda")
y = (torch.from_numpy(array) + 1).to("cuda")
y = torch.tensor(lens).to(d, torch.float16)
a.copy_(torch.tensor(lens))
a[3 + 1] = (5)
(a)[n] = (0)
t[1] = pinned
f(torch.tensor(1, device="cuda"), torch.tensor([1], device="cuda"))
y = f(x=torch.tensor(1, device="cuda"), y=(torch.zeros(3).cuda()))
y = torch.tensor(1 if d else 2, device="cuda")
""".splitlines()
GAPS = ["", " ", "\n        ", "\n\n        ", "  # note\n        ", " \\\n  "]


def laid_out(statement: str, draw: random.Random) -> str:
    """A statement with other whitespace, line breaks and comments between the tokens in brackets."""
    text, depth, column = "", 0, 0
    for token in tokenize.generate_tokens(io.StringIO(statement).readline):
        gap = " " * (token.start[1] - column)
        other = draw.choice(GAPS).replace("note", f"note {draw.random()}")
        text += (other or gap) if depth and draw.random() < 0.4 else gap
        text += token.string
        depth += (token.string in {"(", "["}) - (token.string in {")", "]"})
        column = token.end[1]
    return text.rstrip()


@pytest.mark.parametrize("seed", range(4))
def test_the_layout_of_a_statement_changes_nothing_of_its_fix(seed: int) -> None:
    draw = random.Random(seed)
    others = [laid_out(statement, draw) for statement in STATEMENTS]
    plain, other = (fixed(program(statements)) for statements in (STATEMENTS, others))
    written, expected, got = (body_of(text) for text in (program(STATEMENTS), plain, other))
    assert sum(one != two for one, two in zip(written, expected, strict=True)) == len(STATEMENTS)
    for statement, old, want, new in zip(others, written, expected, got, strict=True):
        assert new == want or (new == old and "# note" in statement), statement  # where it would be lost
    assert comments_in(other) >= comments_in(program(others))


def fixed(text: str) -> str:
    result = check_texts(text)
    assert result.failed == []
    return apply_edits(text, fixable(result.findings, unsafe=True))


def program(statements: list[str]) -> str:
    return HEAD + "".join(f"    {statement}\n" for statement in statements)


def comments_in(text: str) -> set[str]:
    return set(re.findall("# note .*", text))


def body_of(text: str) -> list[str]:
    function = ast.parse(text).body[-1]
    assert isinstance(function, ast.FunctionDef)
    return [ast.unparse(statement) for statement in function.body[-len(STATEMENTS) :]]
