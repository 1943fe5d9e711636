"""Evaluation: what only it reaches comes after what trains or serves, and says so."""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = """\
import torch


class Loop:
    def __init__(self, model, loader, val_loader):
        self.model, self.loader, self.val_loader = model, loader, val_loader

    def evaluate(self):
        self.average()

    def average(self):
        for batch in self.val_loader:
            images(self.model(batch))

    def train(self):
        for batch in self.loader:
            update(self.model(batch))


def both():
    return torch.zeros(1, device="cuda").item()


def images(found):
    both()
    return torch.zeros(2, device="cuda").tolist()


def update(loss):
    loss.backward()
    both()
    return torch.zeros(1, device="cuda").item()
"""


def test_what_only_evaluation_reaches_comes_last_and_names_it(syncscan, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(PROGRAM)
    answer = syncscan("check", "loop.py", "--isolated", "--output-format", "json")
    found = json.loads(answer.stdout)["findings"]
    assert {each["line"]: each.get("evaluation") for each in found} == {21: None, 26: True, 32: None}
    assert {each["when"] for each in found} == {"step"}
    text = syncscan("check", "loop.py", "--isolated", "--output-format", "concise").stdout
    assert [int(line.split(":")[1]) for line in text.splitlines()[:3]] == [
        21,
        32,
        26,
    ]  # `both` has just waited before 32


def test_an_edit_that_calls_it_in_training_moves_it_up(syncscan, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(PROGRAM)
    syncscan("check", "loop.py", "--isolated")
    (tmp_path / "loop.py").write_text(PROGRAM.replace("loss.backward()", "images(loss)"))
    again = syncscan("check", "loop.py", "--isolated", "--output-format", "json")
    assert not any("evaluation" in each for each in json.loads(again.stdout)["findings"])


def test_a_step_of_evaluation_says_so_beside_its_chain(syncscan, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(PROGRAM)
    text = syncscan("check", "loop.py", "--isolated").stdout
    assert "reached from an entry point: update -> both" in text
    (tmp_path / "loop.py").write_text(
        PROGRAM.replace("    both()\n    return torch.zeros(1", "    return torch.zeros(1")
    )
    text = syncscan("check", "loop.py", "--isolated").stdout
    assert "reached from an entry point of evaluation: images -> both" in text


def test_verbs_before_the_name_of_an_evaluation_change_nothing(syncscan, tmp_path: Path) -> None:
    names = (
        "_run_validation_epoch",
        "do_validation",
        "on_validation_batch_end",
        "run_val_loop",
        "train_val_step",
        "input_validation",
    )
    methods = "".join(
        f"    def {name}(self, x):\n        return torch.zeros(2, device='cuda').tolist()\n\n"
        for name in names
    )
    (tmp_path / "loop.py").write_text(f"import torch\n\n\nclass Loop:\n{methods}")
    answer = syncscan("check", "loop.py", "--isolated", "--when", "all", "--output-format", "json")
    found = {
        each["function"]: each.get("evaluation", False) for each in json.loads(answer.stdout)["findings"]
    }
    assert [found[f"Loop.{name}"] for name in names] == [True] * 4 + [False] * 2
