"""A wait in a helper is paid for by all that call it: the finding names the callers that its evidence does not follow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command

HELPER = """\
import torch


def longest(lens: torch.Tensor) -> int:
    return int(lens.max())


def within(lens: torch.Tensor) -> int:
    return longest(lens)
"""
CALLERS = """\
import torch

from helper import longest, within

lens = torch.ones(4, device="cuda")


def first() -> int:
    return longest(lens)


def second() -> int:
    wide = within(lens)
    return longest(lens) + wide


def on_the_host() -> int:
    return longest(torch.ones(4))
"""
FILES: dict[str, str | bytes] = {"helper.py": HELPER, "callers.py": CALLERS}


def test_json_names_every_other_caller(
    project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    folder = project(FILES)
    for _ in ("worked out", "kept"):
        (finding,) = json.loads(syncscan("check", "--output-format", "json", str(folder)).stdout)["findings"]
        assert (finding["evidence"][0]["path"], finding["evidence"][0]["line"]) == (
            "callers.py",
            9,
        )  # the shortest way
        assert finding["passed_too"] == [
            {"path": "callers.py", "line": 14},
            {"path": "helper.py", "line": 9},
        ]


def test_text_names_them_on_one_line(
    project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    assert "  = also passed at: callers.py:14, helper.py:9\n" in syncscan("check", str(project(FILES))).stdout


def test_text_counts_what_is_more_than_a_few(
    project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    more = "".join(f"\n\ndef more_{n}() -> int:\n    return longest(lens)\n" for n in range(5))
    answer = syncscan("check", str(project({**FILES, "callers.py": CALLERS + more}))).stdout
    assert re.search(r"also passed at: (callers\.py:\d+, ){3}4 more\n", answer)


def test_in_a_notebook_a_caller_is_a_line_of_its_cell(
    project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in (HELPER, CALLERS)
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    text = text.replace("from helper import longest, within", "")
    (finding,) = json.loads(
        syncscan("check", "--output-format", "json", str(project({"all.ipynb": text}))).stdout
    )["findings"]
    assert {"path": "all.ipynb", "cell": 2, "line": 14} in finding["passed_too"]


@pytest.mark.parametrize("callers", ["", "longest(torch.ones(4, device='cuda'))\n"])
def test_where_nobody_else_calls_nothing_is_said(
    callers: str, project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    folder = project({"helper.py": HELPER.partition("def within")[0] + callers})
    answer = syncscan("check", "--min-confidence", "assumed", "--output-format", "json", str(folder)).stdout
    (finding,) = json.loads(answer)["findings"]
    assert "passed_too" not in finding


def test_other_formats_name_them_too(
    project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    folder = str(project(FILES))
    (run,) = json.loads(syncscan("check", "--output-format", "sarif", folder).stdout)["runs"]
    related = [place["physicalLocation"] for place in run["results"][0]["relatedLocations"]]
    places = [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in related]
    assert places[-2:] == [("callers.py", 14), ("helper.py", 9)]
    junit = syncscan("check", "--output-format", "junit", folder).stdout
    assert "also passed at: callers.py:14, helper.py:9\n" in junit
