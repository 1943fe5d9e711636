"""The simulated ground truth is well formed, is counted right, and tells no place of its validation half."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulated_truth.collect import PLUGINS, is_innermost, parse_options, suites
from benchmarks.simulated_truth.evaluate import regressions
from benchmarks.simulated_truth.truth import (
    DATA,
    DEVELOPMENT,
    HALVES,
    NO_RULE,
    VALIDATION,
    Truth,
    half_of,
    libraries,
    numbers,
    places,
    ranges,
    read,
    totals,
)
from syncscan.rule import rule_book

ROOT = Path(__file__).resolve().parent.parent
NAMES = {half: next(f"lib{n}" for n in range(99) if half_of(f"lib{n}") == half) for half in HALVES}

SOURCE = '''\
import torch

t = torch.zeros(8, device="cuda")
a = t.sum(
).item()
b = t.tolist()
c = t.cpu()
'''  # fmt: skip


def truth_of(half: str) -> Truth:
    """One library: line 4 synchronizes and is found, line 6 ran and is found, line 3 synchronizes and is not found."""
    library = NAMES[half]
    name = f"{library}/x.py"
    return Truth(
        library, f"{library}==1.0", library, {name: {1, 3, 4, 6}}, {name: {3: "SYN301", 4: "SYN101"}}
    )


@given(st.sets(st.integers(1, 5000)))
def test_lines_come_back_from_their_text(lines):
    assert list(numbers(ranges(lines))) == sorted(lines)


def test_consecutive_lines_are_one_range():
    assert ranges({3, 4, 5, 9}) == "3-2 4"


@pytest.mark.parametrize("half", HALVES)
def test_truth_is_read_as_it_was_written(half, tmp_path):
    written = truth_of(half)
    assert written.write(tmp_path).parent.name == half
    assert libraries(tmp_path) == [written.library]
    assert read(written.library, tmp_path) == written


@pytest.mark.parametrize("library", libraries())
def test_stored_truth_is_of_a_suite(library):
    truth, suite = read(library), suites()[library]
    assert (DATA / truth.half / f"{library}.json.xz").exists()
    assert (truth.release, truth.package) == (suite.release, suite.package)
    assert {Path(path).parts[0] for path in truth.ran} <= {suite.package}
    for path, lines in truth.synced.items():
        assert lines.keys() <= truth.ran[path]
        assert set(lines.values()) <= rule_book().keys() | {NO_RULE}


def test_stored_truth_is_small():
    assert sum(path.stat().st_size for path in DATA.glob("*/*.xz")) < 600_000


def finding(line: int, code: str, confidence: str = "inferred", when: str = "step", path: str = "") -> dict:
    return {
        "path": path or f"{NAMES[DEVELOPMENT]}/x.py", "line": line, "end_line": line, "code": code, "confidence": confidence,
        "when": when,
    }  # fmt: skip


def test_levels_count_what_they_hold():
    found = [
        finding(4, "SYN101"),
        finding(6, "SYN102", "assumed"),
        finding(3, "SYN301", when="once"),
        finding(7, "SYN105"),
    ]
    counts = totals(truth_of(DEVELOPMENT), found)
    assert counts["SYN301"] == {
        "known": 1, "found default": 1, "found assumed": 1, "found shown": 0,
        "ran default": 1, "ran assumed": 1, "true default": 1, "true assumed": 1,
    }  # fmt: skip
    assert counts["SYN102"] == {"ran assumed": 1, "true assumed": 0}
    assert "SYN105" not in counts


def test_places_of_a_development_library_are_named():
    missed, false = places(truth_of(DEVELOPMENT), [finding(4, "SYN101"), finding(6, "SYN102")], "default")
    assert missed == [(f"{NAMES[DEVELOPMENT]}/x.py", 3, "SYN301")]
    assert [each["line"] for each in false] == [6]


def test_places_of_a_validation_library_are_refused():
    with pytest.raises(PermissionError, match="validation"):
        places(truth_of(VALIDATION), [], "default")


def test_evaluation_prints_totals_of_both_halves_and_places_of_one(tmp_path):
    for half in HALVES:
        truth_of(half).write(tmp_path / "data")
        package = tmp_path / "sources" / f"{NAMES[half]}-1.0" / NAMES[half]
        package.mkdir(parents=True)
        (package / "x.py").write_text(SOURCE)
    command = [
        sys.executable, "-m", "benchmarks.simulated_truth.evaluate", "--missed",
        "--data", tmp_path / "data", "--sources", tmp_path / "sources",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"missed {NAMES[DEVELOPMENT]} {NAMES[DEVELOPMENT]}/x.py:3 SYN301",
        f"false {NAMES[DEVELOPMENT]} {NAMES[DEVELOPMENT]}/x.py:6 SYN102",
        *(
            line
            for half in HALVES
            for line in (
                "",
                f"| {half}, 1 libraries | synchronized: found | at `assumed` | findings that ran: true | at `assumed` |",
                "|---|---|---|---|---|",
                "| SYN101 | 1 of 1 (100%) | 1 of 1 (100%) | 1 of 1 (100%) | 1 of 1 (100%) |",
                "| SYN102 | - | - | 0 of 1 (0%) | 0 of 1 (0%) |",
                "| SYN301 | 0 of 1 (0%) | 0 of 1 (0%) | - | - |",
                "| all | 1 of 2 (50%) | 1 of 2 (50%) | 1 of 2 (50%) | 1 of 2 (50%) |",
                "| shown | 1 of 2 (50%) | | 1 of 2 (50%) | |",
            )
        ),
    ]


@pytest.mark.parametrize(
    ("found", "true", "is_worse"), [(5, 6, False), (6, 7, False), (4, 6, True), (5, 5, True), (4, 7, True)]
)
def test_a_line_less_or_a_false_finding_more_is_a_regression(found, true, is_worse):
    before = {"x": {"known": 8, "found default": 5, "ran default": 8, "true default": 6}}
    now = {"x": {"known": 8, "found default": found, "ran default": 8, "true default": true}}
    assert bool(regressions(before, now)) is is_worse


@pytest.mark.parametrize(
    ("inner", "counts"),
    [
        ([], True),
        (["/torch/nn/module.py:7:_call_impl", "<frozen importlib._bootstrap>:1:f"], True),
        ([f"{PLUGINS[0]}:9:__torch_function__"], True),
        (["/env/syncscan/simulate/inside/overridable.py:39:Method.__call__"], True),
        (["/numpy/core.py:9:f"], False),
        (["/torchvision/ops.py:9:f"], False),
        (["/torch/nn/module.py:7:to", f"{PLUGINS[0]}:9:move_module", f"{PLUGINS[0]}:8:init"], False),
    ],
    ids=[
        "own line",
        "through torch",
        "through the plugin",
        "through the simulator that is installed",
        "in other code",
        "in code named like torch",
        "in the plugin",
    ],
)
def test_a_line_synchronizes_where_it_is_the_innermost_outside_torch(inner, counts):
    stack = {"frames": [*inner, "/library/x.py:3:f", "/tests/test_x.py:4:test_f"]}
    assert is_innermost({"path": "/library/x.py", "line": 3, "stacks": [stack]}, "/torch") is counts


SUITE = """\
import numpy as np
import torch

import library


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)


def test_library():
    x = torch.ones(2)
    assert x.is_cuda
    assert torch.from_numpy(np.ones(2)).is_cuda
    assert torch.rand(2, generator=torch.Generator()).is_cuda
    assert not torch.ones(2, device="cpu").is_cuda
    assert (x.numpy() == 1).all()
    assert Net().inner.weight.is_cuda
    assert library.total(x) == 2
    assert not library.on_host(x).is_cuda
    assert not library.table().is_cuda
    assert library.Net().inner.weight.is_cuda
"""
LIBRARY = """\
import torch


def total(x):
    return x.sum().item()


def on_host(x):
    return x.cpu()


def table():
    return torch.tensor([1, 2])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
"""


def test_what_a_test_makes_is_on_the_gpu_and_what_the_library_makes_is_not(tmp_path):
    torch = str(Path(pytest.importorskip("torch").__file__).parent)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(SUITE)
    (tmp_path / "library.py").write_text(LIBRARY)
    plugin = ROOT / "benchmarks" / "simulated_truth" / "gpu_plugin.py"
    command = [
        sys.executable, "-m", "syncscan", "trace", "--simulate", "--include", "*/library.py", "-o", "trace", "--",
        sys.executable, "-m", "pytest", "tests", "-p", "gpu_plugin", f"--truth-tests={tmp_path / 'tests'}",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(plugin.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    sites = json.loads((tmp_path / "trace" / "trace.json").read_text())["sites"]
    of_library = [site for site in sites if site["path"].endswith("library.py") and is_innermost(site, torch)]
    assert {(site["line"], site["code"]) for site in of_library} == {(5, "SYN101"), (9, "SYN105")}


def test_options_may_stand_before_the_libraries(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["collect", sys.executable, "--seconds", "30", "einops", "einx"])
    options = parse_options()
    assert (options.library, options.seconds) == (["einops", "einx"], 30)
