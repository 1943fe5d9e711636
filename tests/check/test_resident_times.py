"""When lines run, and whose waits are meant, after an edit: as if all were read anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.model import Conventions
from tests.check.changing import asked, source

TIMES = """\
import torch

on_gpu = torch.zeros(3, device="cuda")


class Runner:
    def __init__(self):
        self.mean = None

    def execute_model(self, x):
        if self.mean is not None:
            self.mean = mean()
        return x

    def generate(self, x):
        for _ in x:
            self.use()

    def use(self):
        on_gpu.sum().item()

    def none(self):
        on_gpu.min().item()


def mean():
    return on_gpu.mean().item()


def run(batches):
    for each in batches:
        read()


def read():
    on_gpu.tolist()


def main():
    late()


def late():
    on_gpu.cpu()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("in batches", "in loader"),
        ("is not None", "is None"),
        ("for _ in x", "while x"),
        ("    late()\n\n", "    read()\n    late()\n\n"),
        ("    late()\n\n", "    pass\n\n"),
        ("        return x\n", "        return self.none()\n"),
        ("def main", "def forth"),
        ("def generate", "def train_step"),
        ("def use", "def execute_fn"),
    ],
)
def test_when_lines_run_follows_what_is_typed(old, new) -> None:
    before, after = source("a", TIMES), source("a", TIMES.replace(old, new))
    moved = [
        source("a", each.text.replace("import torch", "import torch\n\n# more")) for each in (before, after)
    ]
    engine = Engine(Conventions())
    results = []
    for each in (before, moved[0], after, moved[1], moved[0], before):
        results.append(asked(engine, {"a": each})[0])
        assert results[-1] == asked(Engine(Conventions()), {"a": each})[0]
    whens = [[(each.when, each.call_chain) for each in result.findings] for result in results]
    assert whens[0] == whens[1] == whens[5] != whens[2] == whens[3]


FLAG = """\
import torch
from base import Base


class Runner(Base):
    def __init__(self):
        self._is_new = True

    def execute_model(self, x):
        if self._is_new:
            x.cuda().tolist()
            self._is_new = False
        return x
"""


def test_a_flag_is_read_alike_after_an_edit_of_a_base_in_another_file() -> None:
    plain = source("base", "class Base:\n    pass\n")
    setting = source("base", "class Base:\n    def mark(self):\n        self._is_new = True\n")
    engine, runner = Engine(Conventions()), source("a", FLAG)
    for base in (plain, setting, plain):
        files = {"a": runner, "base": base}
        found = asked(engine, files)[0].findings
        assert found == asked(Engine(Conventions()), files)[0].findings
        assert [each.when for each in found] != []


ANSWERING = """\
import torch


class Answering:
    def answer(self, ids):
        ids.cuda().tolist()
        for _ in range(8):
            ids = self.model(ids)
        return ids
"""
PIPELINE = """\
from base import Answering
from transformers import Pipeline


class Generation(Answering, Pipeline):
    def _forward(self, ids):
        return self.answer(ids)
"""


def test_a_pipeline_generates_as_long_as_a_base_in_another_file_has_a_loop() -> None:
    engine, state, whens = Engine(Conventions()), None, []
    for text in (ANSWERING, ANSWERING.replace("for _ in range(8)", "if ids"), ANSWERING):
        files = {"a": source("a", PIPELINE), "base": source("base", text)}
        found, restored, anew = (
            asked(each, files)[0].findings
            for each in (engine, Engine(Conventions(), state=state), Engine(Conventions()))
        )
        assert found == restored == anew
        state = engine.state()
        whens.append([each.when.value for each in found])
    assert whens == [["unknown"], ["step"], ["unknown"]]


SETTINGS = """\
from dataclasses import dataclass


@dataclass
class Settings:
    checks: bool = False
"""
OPTION = """\
import torch


class Runner:
    def execute_model(self, x):
        if self.settings.checks:
            read(x.cuda())
        return x


def read(x):
    x.tolist()
"""
USE = "from settings import Settings\n\nSettings({})\n"


def assert_each_edit_decides(files: dict[str, Source], edits: Sequence[tuple[str, str, str]]) -> None:
    """Assert that after each edit of a file, all engines name the same switch."""
    engine, state = Engine(Conventions()), None
    for name, text, switch in edits:
        files[name] = source(name, text)
        found, restored = (
            asked(each, files)[0].findings for each in (engine, Engine(Conventions(), state=state))
        )
        assert found == restored == asked(Engine(Conventions()), files)[0].findings
        assert [each.switch for each in found] == [switch] * len(found) != []
        assert {each.when.value for each in found} == {"unknown" if switch else "step"}
        state = engine.state()


def test_an_option_is_off_until_an_edit_turns_it_on() -> None:
    files = {"settings": source("settings", SETTINGS), "a": source("a", OPTION), "use": source("use", USE)}
    edits = (
        ("use", USE.format("1"), "checks"),
        ("use", USE.format("checks=True"), ""),
        ("use", USE, "checks"),
        ("settings", SETTINGS.replace("False", "True"), ""),
        ("settings", SETTINGS, "checks"),
        ("a", OPTION.replace("if self", "if not self"), ""),
        ("a", OPTION, "checks"),
    )
    assert_each_edit_decides(files, edits)


PENALTY = """\
class TrainerConfig:
    penalty: float | None = None
"""
PENALIZED = """\
class Trainer:
    def __init__(self, config):
        self.of_ends = config.penalty

    def training_step(self, x):
        if self.of_ends is not None:
            x.cuda().tolist()
        return x
"""
CONFIG = "from settings import TrainerConfig\n\nconfig = TrainerConfig({})\n"


def test_an_option_without_a_value_is_off_until_an_edit_gives_one() -> None:
    files = {
        "settings": source("settings", PENALTY),
        "a": source("a", PENALIZED),
        "use": source("use", CONFIG.format("")),
    }
    edits = (
        ("use", CONFIG.format("other=1"), "of_ends"),
        ("use", CONFIG.format("penalty=1"), ""),
        ("use", CONFIG.format("penalty=None"), "of_ends"),
        ("use", CONFIG.format("") + "config.penalty = read(1)\n", ""),
        ("use", CONFIG.format(""), "of_ends"),
        ("use", CONFIG.format("") + "config.of_ends = 3\n", ""),
        ("use", CONFIG.format("") + "config.of_ends = None\n", "of_ends"),
        ("settings", PENALTY.replace("None = None", "None = 0.5"), ""),
        ("settings", PENALTY, "of_ends"),
        ("a", PENALIZED.replace("config.penalty", "config.other"), ""),
        ("a", PENALIZED, "of_ends"),
    )
    assert_each_edit_decides(files, edits)


COMPARED = """\
def f(x, p=0, mode="a"):
    if p == 3:
        x.max().item()
    if mode in ("b", "c"):
        x.min().item()
"""
CALLS = """\
from m import f


class Trainer:
    def training_step(self, batch, s):
        x = batch.cuda()
        f(x)
        {}
"""


@pytest.mark.parametrize(
    ("call", "switches"),
    [
        ("f(x, s)", ["", "mode"]),
        ("f(x, s.p, mode=s.m())", ["", ""]),
        ("f(x, *s)", ["", ""]),
        ("f(x, mode=s.m)", ["p", ""]),
        ("f(x, 3)", ["", "mode"]),
    ],
)
def test_a_call_that_may_pass_a_value_decides_comparisons(call, switches) -> None:
    files = {"m": source("m", COMPARED), "u": source("u", CALLS.format("pass"))}
    engine = Engine(Conventions())
    found = asked(engine, files)[0].findings
    assert [each.switch for each in found] == ["p", "mode"]
    state = engine.state()
    files["u"] = source("u", CALLS.format(call))
    for each in (engine, Engine(Conventions(), state=state), Engine(Conventions())):
        found = asked(each, files)[0].findings
        assert [each.switch for each in found] == switches


MEANT = """\
import torch

on_gpu = torch.zeros(3, device="cuda")


class Thing:
    def __init__(self):
        on_gpu.sum().item()


class Base:
    def read(self):
        on_gpu.tolist()


class Below(Base):
    pass


def meant(base: Base):
    with allow_syncs():
        base.read()
        look(on_gpu)


def look(t):
    t.tolist()


def other(t):
    print(t)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(t)", "look(on_gpu)"),
        (
            "class Below(Base):\n    pass",
            "class Below(Base):\n    def read(self):\n        on_gpu.min().item()",
        ),
        ("sum().item()\n", "sum().item()\n\n    def execute_model(self):\n        pass\n"),
    ],
)
def test_what_calls_and_classes_say_of_others_follows_what_is_typed(old, new) -> None:
    before, after = source("a", MEANT), source("a", MEANT.replace(old, new))
    engine = Engine(Conventions())
    results = []
    for each in (before, after, before):
        results.append(asked(engine, {"a": each})[0])
        assert results[-1] == asked(Engine(Conventions()), {"a": each})[0]
    assert results[0] == results[2]


STAGES = """\
import torch
from cache import keep


class Block:
    pass


class Decode(Block):
    @torch.no_grad()
    def __call__(self, state):
        return torch.zeros(3, device="cuda").tolist()


class Blocks(Block):
    def __call__(self, state):
        for block in self.blocks:
            state = block(state)


class Net(torch.nn.Module):
    @keep
    def table(self):
        return torch.zeros(3, device="cuda").tolist()

    def forward(self, x):
        return self.table()
"""
KEEP = "import functools\n\n\ndef keep(fn):\n    return functools.lru_cache(fn)\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("a", "Decode(Block)", "Decode()", ["step", "once"]),
        ("a", "self.blocks", "state", ["step", "once"]),
        ("a", "    @keep\n", "", ["unknown", "step"]),
        ("cache", "functools.lru_cache(fn)", "fn", ["unknown", "step"]),
    ],
)
def test_stages_and_caching_decorators_follow_edits(name, old, new, expected) -> None:
    texts = {"a": STAGES, "cache": KEEP}
    engine, whens = Engine(Conventions()), []
    for each in (texts, {**texts, name: texts[name].replace(old, new)}, texts):
        files = {module: source(module, text) for module, text in each.items()}
        found = asked(engine, files)[0].findings
        assert found == asked(Engine(Conventions()), files)[0].findings
        whens.append([finding.when.value for finding in found])
    assert whens == [["unknown", "once"], expected, ["unknown", "once"]]
