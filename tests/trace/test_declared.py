"""The rule code of an expression whose operands the file declares: as containers of the host, numbers or lists."""

from __future__ import annotations

import pytest

from syncscan.trace.classify import classify

FILE = """\
import numpy as np
import torch
from torch import nn


class Runner:
    def __init__(self, device):
        self.experts = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        self.rewards = torch.zeros(3, device=device)
        self.index = 0
        self.either = [1, 2]

    def step(self, e, row, j: int, ids: list[int], more: "list[int] | None", any, part: nn.ModuleList | None):
        self.index = (self.index + 1) % 3
        self.either = row
        made = [1, 2]
        for k in range(3):
            STATEMENT
"""
OUT, IN = "cudaStreamSynchronize:out", "cudaStreamSynchronize:in"


@pytest.mark.parametrize(
    ("statement", "expression", "api", "code"),
    [
        ("self.experts[e]", "self.experts[e]", OUT, "SYN106"),
        ("part[e]", "part[e]", OUT, "SYN106"),
        ("ids[e]", "ids[e]", OUT, "SYN106"),
        ("ids[:e]", "ids[:e]", OUT, "SYN106"),
        ("ids[e] = 1", "ids[e]", OUT, "SYN106"),
        ("more[e]", "more[e]", OUT, "SYN106"),
        ("made[e]", "made[e]", OUT, "SYN106"),
        ("np.arange(10)[e]", "np.arange(10)[e]", OUT, "SYN106"),
        ("del any[e]", "any[e]", OUT, "SYN106"),
        ("any[e](row)", "any[e]", OUT, "SYN106"),
        ("any[e]", "any[e]", OUT, "SYN201"),
        ("self.either[e]", "self.either[e]", OUT, "SYN201"),
        ("self.rewards[e > 0]", "self.rewards[e > 0]", OUT, "SYN201"),
        ("self.rewards[self.index] = row", "self.rewards[self.index]", IN, "SYN307"),
        ("self.rewards[j] = row", "self.rewards[j]", IN, "SYN307"),
        ("self.rewards[k] = row", "self.rewards[k]", IN, "SYN307"),
        ("self.rewards[e] = row", "self.rewards[e]", IN, "SYN305"),
        ("self.rewards[ids] = False", "self.rewards[ids]", IN, "SYN305"),
        ("self.rewards[e] = False", "self.rewards[e]", IN, "SYN306"),
        ("self.rewards[j]", "self.rewards[j]", OUT, "SYN106"),
    ],
)
def test_what_a_file_declares_decides_the_code(statement, expression, api, code):
    text = FILE.replace("STATEMENT", statement)
    line = text.count("\n")
    start = text.splitlines()[-1].index(expression) + 1
    assert classify(text, line, start, line, start + len(expression), api) == code


@pytest.mark.parametrize(
    "line",
    [f"self.other{'.a' * 900} = row", f"made: {'a.' * 900}b = row", f"self.other = self{'.a' * 900}"],
    ids=["target", "annotation", "value"],
)
def test_a_deep_expression_in_a_class_hides_no_attribute(line):
    text = FILE.replace("        self.either = [1, 2]\n", f"        {line}\n").replace(
        "STATEMENT", "self.experts[e]"
    )
    end = text.count("\n")
    assert classify(text, end, 13, end, 28, OUT) == "SYN106"
