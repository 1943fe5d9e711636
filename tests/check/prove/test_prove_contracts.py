"""A function that is to be free of synchronization, which every check holds to that."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command

PROGRAM = """\
import torch


def helper(x, names):
    return [x[name] for name in names]


{mark}
def step(x, y: torch.Tensor) -> torch.Tensor:
    if x:{comment}
        return y
    return y + 1


def other(x: torch.Tensor) -> int:
    return 1 if x else 2
"""
Write = Callable[[dict[str, str | bytes]], Path]


def found(syncscan: Command, *options: str) -> list[tuple[int, str]]:
    run = syncscan("check", "--output-format", "json", *options)
    return [(finding["line"], finding["code"]) for finding in json.loads(run.stdout)["findings"]]


def program(mark: str = "# syncscan: sync-free", comment: str = "") -> dict[str, str | bytes]:
    return {"engine.py": PROGRAM.format(mark=mark, comment=comment)}


def test_without_a_contract_what_is_possible_is_not_reported(syncscan: Command, project: Write) -> None:
    project(program(mark=""))
    assert found(syncscan) == []


def test_a_comment_makes_a_contract(syncscan: Command, project: Write) -> None:
    project(program())
    assert found(syncscan) == [(10, "SYN701")]


def test_the_settings_name_a_contract(syncscan: Command, project: Write) -> None:
    project(program(mark="") | {"pyproject.toml": '[tool.syncscan]\nsync-free = ["engine:step"]\n'})
    assert found(syncscan) == [(10, "SYN701")]


@pytest.mark.parametrize("reason", ["", " the host knows x"])
def test_a_suppression_allows_an_obstacle(syncscan: Command, project: Write, reason: str) -> None:
    project(program(comment=f"  # syncscan: ignore[SYN701]{reason}"))
    assert found(syncscan) == []


def test_a_suppression_that_is_not_needed_is_reported(syncscan: Command, project: Write) -> None:
    project(program(mark="", comment="  # syncscan: ignore[SYN701] x"))
    assert found(syncscan) == [(10, "SYN001")]


def test_a_function_that_is_not_there_is_refused(syncscan: Command, project: Write) -> None:
    project(program(mark="") | {"pyproject.toml": '[tool.syncscan]\nsync-free = ["engine:stp"]\n'})
    run = syncscan("check")
    assert (run.status, "did you mean 'step'?" in run.stderr) == (2, True)


def test_the_rule_may_be_ignored(syncscan: Command, project: Write) -> None:
    project(program())
    assert found(syncscan, "--ignore", "SYN7") == []


def test_an_edit_breaks_a_contract_and_mends_it(syncscan: Command, project: Write) -> None:
    project(program())
    assert found(syncscan) == [(10, "SYN701")]
    project(
        {
            "engine.py": PROGRAM.format(mark="# syncscan: sync-free", comment="").replace(
                "if x:", "if x is None:"
            )
        }
    )
    assert found(syncscan) == []
    project(program())
    assert found(syncscan) == [(10, "SYN701")]
