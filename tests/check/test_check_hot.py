"""Hot paths: what a step reaches, and what only runs at the start."""

from __future__ import annotations

import json
import re
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
    command = [sys.executable, "-m", "syncscan", "check", "--output-format", "json", *options, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hot_lines(answer: subprocess.CompletedProcess[str]) -> dict[int, list[str]]:
    found = json.loads(answer.stdout)["findings"]
    return {finding["line"]: finding["call_chain"] for finding in found if finding["hot"]}


def test_without_settings_a_forward_is_hot_and_so_is_what_it_calls(tmp_path: Path) -> None:
    assert hot_lines(check(tmp_path)) == {5: ["Model.forward", "longest"]}


def test_a_named_entry_point_takes_the_place_of_the_usual_ones(tmp_path: Path) -> None:
    answer = check(tmp_path, settings='hot = ["model:Runner.step"]')
    assert hot_lines(answer) == {19: ["Runner.step"]}


def test_an_entry_point_may_begin_with_folders_without_init(syncscan, project) -> None:
    settings = '[tool.syncscan]\nhot = ["space.train.loop:Runner.step"]\n'
    files = {"space/train/__init__.py": "", "space/train/loop.py": PROGRAM, "pyproject.toml": settings}
    project(files)
    found = json.loads(syncscan("check", "--output-format", "json").stdout)["findings"]
    assert {each["line"] for each in found if each["hot"]} == {19}


def test_hot_only_leaves_out_what_runs_at_the_start(tmp_path: Path) -> None:
    by_option = json.loads(check(tmp_path, "--when", "step").stdout)["findings"]
    by_setting = json.loads(check(tmp_path, settings='when = ["step"]').stdout)["findings"]
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
    found = json.loads(check(tmp_path, "--when", "all", program=CACHED).stdout)["findings"]
    assert [(finding["line"], finding["code"], finding["hot"]) for finding in found] == [
        (7, "SYN103", False),
        (18, "SYN101", False),
    ]


def test_a_cached_property_can_be_an_entry_point(tmp_path: Path) -> None:
    answer = check(tmp_path, settings='hot = ["model:Model.longest"]', program=CACHED)
    assert hot_lines(answer) == {7: ["Model.longest", "longest"], 18: ["Model.longest"]}


LOADED = """\
import torch


class Runner:
    def load_model(self) -> float:
        return torch.zeros(1, device="cuda").item()
"""


def test_what_runs_once_is_counted_and_shown_on_request(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        'import torch\n\n\ndef f():\n    torch.ones(1, device="cuda").item()\n'
    )
    quiet = check(tmp_path, program=LOADED)
    assert quiet.returncode == 0
    data = json.loads(quiet.stdout)
    assert (data["findings"], data["left_out"]) == ([], {"unknown": 0, "once": 1, "test": 1})
    whole = check(tmp_path, "--when", "all", program=LOADED)
    assert whole.returncode == 1
    assert [finding["when"] for finding in json.loads(whole.stdout)["findings"]] == ["once", "test"]
    assert check(tmp_path, settings="all = true", program=LOADED).returncode == 1


def test_the_summary_says_what_is_not_shown(tmp_path: Path) -> None:
    text = check(tmp_path, "--output-format", "text", program=LOADED).stdout
    assert text.startswith("no findings; 1 file checked")
    assert text.rstrip().endswith("not shown: 1 that runs once (--when all shows them)")


def test_text_shows_steps_first_and_what_one_function_repeats_once(tmp_path: Path) -> None:
    program = PROGRAM.replace("step(self)", "execute_model(self)").replace(
        '        return torch.zeros(1, device="cuda").item()\n',
        '        torch.zeros(1, device="cuda").item()\n        return torch.zeros(2, device="cuda").sum().item()\n',
    )
    program = program.replace(
        "def longest", "def first(t: torch.Tensor) -> int:\n    return int(t[0])\n\n\ndef longest"
    )
    program += '\n\nfirst(torch.zeros(8, device="cuda"))\n'
    lines = check(tmp_path, "--output-format", "text", program=program).stdout.splitlines()
    heads = [
        line.partition("model.py:")[2].split(":")[0]
        for line in lines
        if "model.py:" in line and " SYN1" in line
    ]
    assert heads == ["23", "9", "5"]
    assert [line.partition(" at: ")[2] for line in lines if "= little" in line] == ["24:16"]


def test_a_check_of_errors_comes_after_what_programs_can_avoid(tmp_path: Path) -> None:
    program = """\
import torch


class Runner:
    def execute_model(self):
        rows = torch.eye(4, device="cuda")
        inverse = torch.linalg.inv(rows)
        rows = rows @ inverse
        return rows.sum().item()
"""
    text = check(tmp_path, "--output-format", "concise", program=program).stdout
    assert re.findall(r"model\.py.* (SYN\d{3}) ", text) == ["SYN101", "SYN502"]


TRAINING = """\
import torch


def clipped(loss: torch.Tensor) -> float:
    return loss.item()


def accuracy(out: torch.Tensor) -> list:
    return out.tolist()


def main(loader, device="cuda") -> None:
    model = torch.nn.Linear(4, 4).to(device)
    weight = torch.tensor([1.0, 2.0], device="cuda")
    for batch in loader:
        loss = model(batch.to("cuda")).sum() * weight.sum()
        loss.backward()
        print(loss.item())
        clipped(loss)
        accuracy(loss)
"""


def test_the_entry_points_that_a_report_proposes_change_nothing(tmp_path: Path) -> None:
    """A function around a loop of steps is none of them: what it does before the loop runs once."""

    def times(settings: str) -> dict[int, str]:
        found = json.loads(check(tmp_path, "--when", "all", program=TRAINING, settings=settings).stdout)
        return {finding["line"]: finding["when"] for finding in found["findings"]}

    before = times("")
    command = [sys.executable, "-m", "syncscan", "check", "--no-cache", str(tmp_path)]
    report = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    proposed = re.search(r"hot = \[.*\]", report)
    assert proposed is not None
    assert times(proposed[0]) == before
    assert before[14] == "once"
    assert before[18] == "step"
