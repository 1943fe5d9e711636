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


LOGS = """
import logging

import torch

logger = logging.getLogger(__name__)
loss = torch.ones(3, device="cuda")
{}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('logger.debug(f"loss {loss}")', 'pass the tensor to the logger, `logger.debug("... %s", loss)`'),
        ('logging.debug(f"loss {loss}")', '`logging.debug("... %s", loss)`'),
        ('logging.debug(f"loss {loss.sum()}")', "in general: log the shape"),
        ('logging.debug(f"loss {loss:.3f}")', "in general: log the shape"),
        ('logger.info(f"loss {loss}")', "in general: log the shape"),
    ],
)
def test_a_text_for_the_debug_level_is_left_to_the_logger(syncscan, tmp_path, line, said):
    assert said in suggestions(syncscan, tmp_path, LOGS.format(line))


@pytest.mark.parametrize(
    ("device", "said"),
    [("x", "`device=x.device`"), ("x.device", "`device=x.device`"), ("'cuda'", "`device='cuda'`")],
)
def test_random_numbers_are_drawn_on_the_device_of_a_tensor(syncscan, tmp_path, device, said):
    program = f"import torch\n\nx = torch.ones(3, device='cuda')\ny = torch.randn(3).to({device}) + x\n"
    assert f"draw the numbers on the GPU with {said};" in suggestions(syncscan, tmp_path, program)


def test_random_numbers_of_a_generator_of_the_host_stay_on_the_host(syncscan, tmp_path):
    program = "import torch\n\ng = torch.Generator()\ny = torch.randn(3, generator=g).to('cuda')\n"
    text = suggestions(syncscan, tmp_path, program)
    assert "SYN302" in text
    assert "draw the numbers on the GPU" not in text


@pytest.mark.parametrize(("generator", "is_drawn"), [("", True), ("generator=g, ", False)])
def test_a_number_of_the_programs_own_generator_is_not_drawn_elsewhere(
    syncscan, tmp_path, generator, is_drawn
):
    program = f"""
import torch

g = torch.Generator(device="cuda")
seed = torch.randint(0, 9, (), {generator}device="cuda").item()
"""
    text = suggestions(syncscan, tmp_path, program)
    assert "SYN101" in text
    assert ("with `random`" in text) is is_drawn


@pytest.mark.parametrize(
    ("lines", "moves"),
    [
        ("if n > 3:\n    print(k)", True),
        ("if n > 3:\n    print(k)\n    k = 2\n    print(k)", True),
        ("if n > 3:\n    print(k)\n    k = 2\nprint(k)", False),
        ("if n > 3:\n    print(k)\nelse:\n    k = 2\nprint(k)", False),
        ("if n > 3:\n    print(k)\nfor i in range(n):\n    k = 2\nprint(k)", False),
        ("if n > 3:\n    print(k)\nprint([k for k in range(n)], k)", False),
        ("if n > 3:\n    print(k)\nk = 2\nprint(k)", True),
        ("if n > 3:\n    print(k)\nwith open('a') as f:\n    k = f.read()\nprint(k)", True),
        ("if n > 3:\n    print(k)\ntry:\n    print(n)\nfinally:\n    k = 2\nprint(k)", True),
        ("if n > 3:\n    print(k)\nk += 1", False),
        ("if n > 3:\n    print(k)\nk = k + 1\nprint(k)", False),
        ("if n > 3:\n    print(k)\nfor k in range(k):\n    print(n)", False),
        ("if n > 3:\n    print(k)\nif n < 2 and (k := 5):\n    pass\nprint(k)", False),
    ],
)
def test_a_read_moves_into_a_branch_only_if_no_path_needs_it_elsewhere(syncscan, tmp_path, lines, moves):
    program = f"import torch\n\nn = 4\nk = int(torch.ones(8, device='cuda').sum())\n{lines}\n"
    text = suggestions(syncscan, tmp_path, program)
    assert "SYN103" in text
    assert ("move the read into the branch" in text) is moves


@pytest.mark.parametrize(
    "call", ["wandb.log({'a': k})", "writer.add_scalars('a', {'a': k})", "writer.add_scalar('a', k)"]
)
def test_what_a_writer_of_metrics_would_copy_is_not_recorded_as_a_tensor(syncscan, tmp_path, call):
    program = f"""
import torch, wandb
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter()
for i in range(9):
    x = torch.ones(8, device="cuda") * i
    k = x.sum().item()
    {call}
"""
    text = suggestions(syncscan, tmp_path, program)
    assert "SYN101" in text
    assert "keep `x.sum().detach()`, and log all values" in text
    assert "record `x.sum().detach()`" not in text
