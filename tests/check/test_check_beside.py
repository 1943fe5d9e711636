"""A second process reads the frequencies while the first one solves: the findings are those of one process."""

from __future__ import annotations

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.frequency.functions import FunctionFrequency
from syncscan.check.infer.source.index import LAMBDA
from syncscan.check.result import CheckResult
from syncscan.model import Conventions, When
from tests.check.changing import project, source

STEPS = """
import torch

class Model:
    def generate(self):
        while True:
            self.step(torch.zeros(3, device="cuda"))

    def step(self, x):
        if self.table is None:
            self.table = x.cpu()
        return x.cpu()

def setup():
    return torch.zeros(3, device="cuda").cpu()
"""


def checked(sources: dict[str, Source], jobs: int) -> CheckResult:
    return Engine(Conventions()).check([*sources.values()], None, lambda *_: None, jobs)


def test_a_second_process_reads_when_functions_run(monkeypatch) -> None:
    monkeypatch.setattr("syncscan.check.engine._WORTH_READING_BESIDE", 1)
    sources = project() | {"model": source("model", STEPS)}
    expected = checked(sources, jobs=1)
    read: list[str] = []
    in_here = FunctionFrequency.of.__func__
    monkeypatch.setattr(
        FunctionFrequency, "of", lambda each: read.append(each.name) or in_here(FunctionFrequency, each)
    )
    assert checked(sources, jobs=2) == expected
    assert {finding.when for finding in expected.findings} >= {When.STEP, When.ONCE}
    assert {*read} == {LAMBDA}  # which the solving meets
