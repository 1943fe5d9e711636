"""`benchmarks/parity.py` on a suite of a few tests: what it runs, and what it counts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from benchmarks import parity, parity_plugin

pytest.importorskip("torch")

SUITE = """
import os
import pytest, torch

HAS_GPU = torch.cuda.is_available()


def test_it_ends_the_process():
    if HAS_GPU:
        os._exit(1)


def test_on_the_gpu():
    assert torch.ones(1, device="cuda" if HAS_GPU else "cpu").item() == 1


def test_that_cannot_be_simulated():
    if HAS_GPU:
        torch.cuda.MemPool()


def test_in_two_places():
    assert not HAS_GPU or torch.zeros(2) + torch.zeros(2, device="cuda")


def test_that_fails_everywhere():
    raise ValueError(7)


@pytest.mark.skipif(not HAS_GPU, reason="no GPU")
def test_that_wants_a_gpu():
    torch.cuda.synchronize()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason=""))])
def test_a_twin(device):
    assert False
"""


@pytest.mark.long
def test_a_suite_is_run_to_its_end_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "venv").symlink_to(Path(sys.executable).parent.parent)
    options = argparse.Namespace(folder=tmp_path, seconds=100)
    results = {}
    for run in ("cpu", "simulated"):
        path = tmp_path / "results" / f"{run}.jsonl"
        parity.run_suite(parity.Suite("", ("test_it.py",)), run, tmp_path, path, options)
        results[run] = parity.read_results(path)
    results["cuda"] = results["simulated"]
    capsys.readouterr()
    parity.print_table([("mine", 1, results)])
    parity.print_failures("mine", results)
    printed = capsys.readouterr().out
    assert "| mine | 1 | 4 | 1 / 1 / 2 | 1 / 0 / 0 | 2: 1 / 0 / 1 / 0 |" in printed
    assert (
        "mine, simulated: 1 x not simulated: SimulationError torch.cuda.MemPool cannot be simulated"
        in printed
    )
    assert (
        "mine, simulated: 1 x placement: RuntimeError Expected all tensors to be on the same device"
        in printed
    )
    assert (
        "1 x otherwise:  the test ended the process, or took too long\n    test_it.py::test_it_ends"
        in printed
    )
    assert "ValueError" not in printed


def test_a_share_of_a_suite_is_always_the_same_and_takes_both_twins() -> None:
    names = [f"test_it.py::test[{number}-cpu]" for number in range(1000)]
    sample = [name for name in names if parity_plugin.is_in_share(name, 10)]
    assert 50 < len(sample) < 150
    assert [name.replace("cpu", "cuda") for name in sample] == [
        name
        for name in (name.replace("cpu", "cuda") for name in names)
        if parity_plugin.is_in_share(name, 10)
    ]
