"""A module that moves what it keeps to the GPU waits for that in its first step alone."""

from __future__ import annotations

import json

import pytest

from tests.check.test_check_facts import facts

ANCHORS = """\
import torch
from torch import nn


class Anchors(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.kept = [torch.tensor([size, 1.0]) for size in sizes]

    def forward(self, x):
        self.prepare(x.device)
        return self.kept[0] * x

    def prepare(self, device):
        self.kept = [each.to(device) for each in self.kept]

    def later(self, other):
        pass


class Model(Anchors):
    pass
"""
MOVE = "self.kept = [each.to(device) for each in self.kept]"
ONE = (
    ("[torch.tensor([size, 1.0]) for size in sizes]", "torch.tensor(sizes)"),
    (MOVE, "self.kept = self.kept.to(device)"),
)


@pytest.fixture
def when(syncscan, project):
    """When the line that moves runs, after changes of the source."""

    def run(*changes: tuple[str, str], word: str = "list[host float]") -> list[str]:
        source = ANCHORS
        for old, new in changes:
            assert old in source
            source = source.replace(old, new)
        seen = {"self.kept": {word: 5}, "device": {"gpu device": 5}}
        project({"state.py": source, "facts.json": facts(source, Anchors__prepare=seen)})
        done = syncscan(
            "check", "state.py", "--facts", "facts.json", "--output-format", "json", "--when", "all"
        )
        assert done.stderr == ""
        return [f["when"] for f in json.loads(done.stdout)["findings"] if f["function"] == "Anchors.prepare"]

    return run


def test_what_is_kept_moves_once(when):
    assert when() == ["once"]
    assert when(*ONE, word="host float") == ["once"]


@pytest.mark.parametrize(
    "changes",
    [
        [("later(self, other)", "load_weights(self, other)"), ("pass\n\n\nclass", "self.kept = other\n\n\nclass")],
        [("pass\n\n\nclass", "self.other = self.kept[0].cpu()\n\n\nclass")],
        [("class Anchors(nn.Module)", "class Manager:\n    pass\n\n\nclass Anchors(Manager)")],
    ],
    ids=["set by loading", "read on the host", "a manager"],
)  # fmt: skip
def test_what_runs_once_may_set_it(when, changes):
    assert when(*changes) == ["once"]


@pytest.mark.parametrize(
    "changes",
    [
        [("class Anchors(nn.Module)", "class Anchors"), ("forward", "execute_model")],
        [("later", "forward_again"), ("pass\n\n\nclass", "self.kept = other\n\n\nclass")],
        [("pass\n\n\nclass", "self.kept, self.other = other\n\n\nclass")],
        [("pass\n\n\nclass", "self.kept[0] = other\n\n\nclass")],
        [("pass\n\n\nclass", "self.kept.append(other)\n\n\nclass")],
        [("pass\n\n\nclass", "self.kept = [each.to('cpu') for each in self.kept]\n\n\nclass")],
        [*ONE, ("pass\n\n\nclass", "self.kept.cpu()\n\n\nclass")],
        [("Anchors):\n    pass", "Anchors):\n    def more(self, other):\n        self.kept = other")],
        [(".to(device)", ".to(device, copy=True)")],
        [("self.kept]\n\n    def later", "self.kept if device]\n\n    def later")],
        [("self.kept]\n\n    def later", "(*self.kept, torch.ones(3))]\n\n    def later")],
        [(MOVE, "self.moved = [each.to(device) for each in self.kept]")],
        [("self.kept = [torch.tensor([size, 1.0]) for size in sizes]", "pass")],
    ],
    ids=["no module", "each step", "among others", "an item", "grows", "moved back", "a module moved back", "below", "copied",
         "not all", "more than all", "elsewhere", "nobody sets it"],
)  # fmt: skip
def test_what_may_be_put_there_later_moves_in_each_step(when, changes):
    word = "host float" if ONE[0] in changes else "list[host float]"
    assert when(*changes, word=word) == ["step"]
