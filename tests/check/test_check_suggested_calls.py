"""A suggestion asks nothing of code that may not be able to do it."""

from __future__ import annotations

from pathlib import Path

import pytest


def suggestions(syncscan, folder: Path, program: str) -> str:
    (folder / "program.py").write_text(program)
    return syncscan("check", str(folder / "program.py")).stdout


@pytest.mark.parametrize(
    ("value", "is_chosen"), [("torch.zeros(3, device='cuda')", True), ("env.reset()", False)]
)
def test_a_choice_on_the_gpu_runs_both_sides_so_neither_may_change_anything(
    syncscan, tmp_path, value, is_chosen
):
    program = f"""
import torch

class Env:
    def reset(self):
        self.steps = 0
        return torch.zeros(3, device="cuda")

def run(env: Env, done):
    state = torch.ones(3, device="cuda")
    return {value} if done else state

for _ in range(9):
    run(Env(), torch.ones((), device="cuda") > 0)
"""
    text = suggestions(syncscan, tmp_path, program)
    assert "SYN104" in text
    assert ("choose on the GPU" in text) is is_chosen


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("batch", "if `batch` is a tensor: another class may not take `non_blocking`"),
        ("torch.as_tensor(batch)", 'and copy with `batch.to("cuda", non_blocking=True)`\n'),
    ],
)
def test_what_a_loader_gives_may_be_of_a_class_whose_to_takes_no_more(syncscan, tmp_path, item, said):
    program = f"""
import torch
from torch.utils.data import DataLoader

def train(dataset, model):
    for batch in DataLoader(dataset):
        batch = {item}
        model(batch.to("cuda")).sum().backward()
"""
    text = suggestions(syncscan, tmp_path, program)
    assert said in text
    assert ("another class" in text) is (item == "batch")
