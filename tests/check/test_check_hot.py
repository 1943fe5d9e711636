"""Hot paths: what a step reaches, and what only runs at the start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import torch


def longest(lens: torch.Tensor) -> int:
    return int(lens.max())


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.zeros(1, device="cuda").item()

    def forward(self) -> int:
        return longest(torch.zeros(8, device="cuda"))


class Runner:
    def step(self) -> float:
        return torch.zeros(1, device="cuda").item()
"""


def check(
    folder: Path, *options: str, settings: str = "", program: str = PROGRAM
) -> subprocess.CompletedProcess[str]:
    (folder / "model.py").write_text(program)
    (folder / "pyproject.toml").write_text(f"[tool.syncscan]\n{settings}\n")
    command = [sys.executable, "-m", "syncscan", "check", "--format", "json", *options, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hot_lines(answer: subprocess.CompletedProcess[str]) -> dict[int, list[str]]:
    found = json.loads(answer.stdout)["findings"]
    return {finding["line"]: finding["call_chain"] for finding in found if finding["hot"]}


def test_without_settings_a_forward_is_hot_and_so_is_what_it_calls(tmp_path: Path) -> None:
    assert hot_lines(check(tmp_path)) == {5: ["Model.forward", "longest"]}


def test_a_named_entry_point_takes_the_place_of_the_usual_ones(tmp_path: Path) -> None:
    answer = check(tmp_path, settings='hot = ["model:Runner.step"]')
    assert hot_lines(answer) == {19: ["Runner.step"]}


def test_hot_only_leaves_out_what_runs_at_the_start(tmp_path: Path) -> None:
    by_option = json.loads(check(tmp_path, "--hot-only").stdout)["findings"]
    by_setting = json.loads(check(tmp_path, settings="hot-only = true").stdout)["findings"]
    assert [finding["line"] for finding in by_option] == [5]
    assert [finding["line"] for finding in by_setting] == [5]


def test_an_entry_point_that_does_not_exist_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    answer = check(tmp_path, settings='hot = ["model:Runner.stop"]')
    assert answer.returncode == 2
    assert answer.stderr == (
        f"syncscan: {tmp_path / 'pyproject.toml'}: [tool.syncscan]: "
        "hot: the project has no function 'model:Runner.stop'; did you mean 'model:Runner.step'?\n"
    )


def test_an_entry_point_in_a_module_that_does_not_exist_is_an_error_that_names_the_nearest(
    tmp_path: Path,
) -> None:
    answer = check(tmp_path, settings='hot = ["modell:Runner.step"]')
    assert answer.returncode == 2
    assert "hot: the project has no module 'modell'; did you mean 'model'?" in answer.stderr


CACHED = """\
import functools

import torch


def longest(lens: torch.Tensor) -> int:
    return int(lens.max())


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lens = torch.zeros(8, device="cuda")

    @functools.cached_property
    @torch.inference_mode()
    def longest(self) -> int:
        return longest(self.lens) + self.lens.sum().item()

    @property
    def half(self) -> int:
        return self.longest // 2

    def forward(self) -> int:
        return self.longest + self.half
"""


def test_a_cached_property_runs_once_and_not_in_every_step(tmp_path: Path) -> None:
    found = json.loads(check(tmp_path, program=CACHED).stdout)["findings"]
    assert [(finding["line"], finding["code"], finding["hot"]) for finding in found] == [
        (7, "SYN103", False),
        (18, "SYN101", False),
    ]


def test_a_cached_property_can_be_an_entry_point(tmp_path: Path) -> None:
    answer = check(tmp_path, settings='hot = ["model:Model.longest"]', program=CACHED)
    assert hot_lines(answer) == {7: ["Model.longest", "longest"], 18: ["Model.longest"]}
