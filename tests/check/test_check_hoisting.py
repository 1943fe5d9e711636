"""A read is hoisted out of a loop only if it gives the same in each iteration."""

from __future__ import annotations

import json

import pytest

HEAD = """\
import torch

x = torch.zeros(8, 8, device="cuda")


class Runner:
    def __init__(self):
        self.x = torch.zeros(8, device="cuda")

    def step(self):
        self.x = self.x + 1
        return self.x


def made():
    global x
    x = x + 1
    return x


runner, net = Runner(), torch.nn.Dropout()
for k in range(3):
"""


@pytest.fixture
def suggested(syncscan, project):
    """Return the suggestion for a read in a loop."""

    def check(read: str, also: str = "pass") -> str:
        project({"a.py": f"{HEAD}    {also}\n    n = {read}\n"})
        command = ("check", "--isolated", "--output-format", "json", "--when", "all")
        found = json.loads(syncscan(*command).stdout)["findings"]
        (finding,) = [each for each in found if each["line"] == HEAD.count("\n") + 2]
        return finding["fix"]["description"]

    return check


@pytest.mark.parametrize(
    "read", ["x.sum().item()", "int(x.max())", "torch.linalg.norm(x).item()", "runner.x.sum().item()"]
)
def test_what_tensors_compute_alone_is_hoisted(suggested, read):
    assert suggested(read) == f"read `{read}` once, before the loop: the value is the same in all iterations"


@pytest.mark.parametrize(
    "read",
    ["torch.rand(3, device='cuda').sum().item()", "x.bernoulli().sum().item()", "made().sum().item()", "net(x).sum().item()", "runner.step().sum().item()"],
)  # fmt: skip
def test_what_is_drawn_or_runs_other_code_is_not(suggested, read):
    assert "before the loop" not in suggested(read)


@pytest.mark.parametrize("also", ["runner.step()", "made(runner)", "made(of=runner)"])
def test_an_attribute_that_other_code_may_set_is_not(suggested, also):
    assert "before the loop" not in suggested("runner.x.sum().item()", also)
