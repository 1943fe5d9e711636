"""Processes that a program spawns during a block of `simulated_cuda`."""

from __future__ import annotations

import multiprocessing
import multiprocessing.spawn
import sys
from pathlib import Path

import pytest

from syncscan.simulate.context import simulated_cuda

PROGRAM = """\
import sys


def tell(path):
    import torch
    with open(path, "w") as file:
        print(torch.cuda.is_available(), torch.cuda.device_count() if torch.cuda.is_available() else 0, file=file)


def tell_imported(path):
    with open(path, "w") as file:
        print("torch" in sys.modules, file=file)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "spawned_program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("spawned_program")
    del sys.modules["spawned_program"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_new_process_sees_the_gpus_of_the_block(program, tmp_path: Path, method: str) -> None:
    with simulated_cuda(devices=2):
        assert _run(program.tell, tmp_path / "told", method) == "True 2"


def test_a_new_process_does_not_import_torch_for_the_simulation(program, tmp_path: Path) -> None:
    with simulated_cuda():
        assert _run(program.tell_imported, tmp_path / "told") == "False"


def test_a_process_after_the_block_has_no_gpu(program, tmp_path: Path) -> None:
    before = multiprocessing.spawn.get_preparation_data
    with simulated_cuda():
        assert multiprocessing.spawn.get_preparation_data is not before
    assert multiprocessing.spawn.get_preparation_data is before
    assert _run(program.tell, tmp_path / "told") == "False 0"


def _run(target, path: Path, method: str = "spawn") -> str:
    process = multiprocessing.get_context(method).Process(target=target, args=(str(path),))
    process.start()
    process.join()
    assert process.exitcode == 0
    return path.read_text(encoding="utf-8").strip()
