"""Every program of the corpus gives the findings that its marks say, and no other; `marks.py` explains them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syncscan.config import DEFAULT_CONFIDENCE
from syncscan.model import Confidence
from tests.check.marks import Expected, Program, programs, read
from tests.conftest import Command

Finding = dict[str, Any]


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.title)
def test_the_marks_say_what_is_found(
    program: Program, project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    if sys.version_info < (3, program.python):
        pytest.skip(f"is for Python 3.{program.python}")
    assert program.expected or program.silent, "a program without marks asserts nothing"
    differences = compare(program, findings_in(program.files, project, syncscan))
    assert not differences, "\n".join(["", *differences])


WAITS = """\
import torch

t = torch.ones(4, device="cuda")  # at: made
t.tolist()  # MARK
# because: made: `torch.ones(4, device="cuda")` places the tensor on the GPU
"""


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("expect: SYN102 (proved, unknown) `t.tolist()`", []),
        ("false: SYN102", []),
        ("silent", ["expected silence, found SYN102 (proved) at `t.tolist()`"]),
        ("todo: SYN102", ["is found now: write `expect` for `todo`"]),
        ("expect: SYN102, SYN101", ["expected SYN101"]),
        ("false: SYN101 # expect: SYN102", ["is not found any more: take the mark away: SYN101"]),
        ("expect: SYN102 (inferred)", ["expected inferred, found proved"]),
        ("expect: SYN102 (step)", ["expected step, found unknown"]),
        (
            "expect: SYN102 `t`",
            ["expected SYN102", "expected silence, found SYN102 (proved) at `t.tolist()`"],
        ),
    ],
)
def test_a_difference_is_told_with_its_line(
    mark: str, said: list[str], project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> None:
    text = WAITS.replace("MARK", mark)
    if mark == "silent":
        text = text.rpartition("# because")[0]
    findings = findings_in({"a.py": text}, project, syncscan)
    told = compare(read("theme/a", {"a.py": text}), findings)
    assert [one.splitlines()[-1].strip() for one in told] == said
    assert all(one.startswith("theme/a: a.py:4: t.tolist()") for one in told)


def test_another_reason_is_told(project: Callable[[dict[str, str | bytes]], Path], syncscan: Command) -> None:
    text = WAITS.replace("MARK", "expect: SYN102").replace("places the tensor on the GPU", "is on the GPU")
    (told,) = compare(read("theme/a", {"a.py": text}), findings_in({"a.py": text}, project, syncscan))
    assert "expected because" in told


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # expect: SYN1\n",
        "x = 1  # expect: SYN101 (perhaps)\n",
        "# because: made: nothing stands above\n",
        "x = 1  # at: two words\n",
    ],
)
def test_a_mark_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a\.py:1"):
        read("theme/a", {"a.py": text})


def findings_in(
    files: dict[str, str], project: Callable[[dict[str, str | bytes]], Path], syncscan: Command
) -> list[Finding]:
    """What the check finds, at any confidence, in files that lie in a folder of their own."""
    project(dict(files))
    run = syncscan("check", "--output-format", "json", "--when", "all", "--min-confidence", "assumed", ".")
    assert run.stderr == ""
    answer = json.loads(run.stdout)
    assert answer["files"]["failed"] == []
    findings: list[Finding] = answer["findings"]
    return findings


def compare(program: Program, findings: list[Finding]) -> list[str]:
    """Where findings and marks differ, each with its line."""
    left = list(findings)
    said = []
    for expected in program.expected:
        finding = next((finding for finding in left if _is_meant(expected, finding)), None)
        where = f"{program.title}: {expected.path}:{expected.line}"
        line = program.files[expected.path].splitlines()[expected.line - 1].strip()
        if expected.verb == "todo":
            if finding is not None and not _unlike(expected, finding, program):
                left.remove(finding)
                said.append(f"{where}: {line}\n  is found now: write `expect` for `todo`")
            continue
        if finding is None:
            word = "expected" if expected.verb == "expect" else "is not found any more: take the mark away:"
            said.append(f"{where}: {line}\n  {word} {expected.code}")
            continue
        left.remove(finding)
        said += [f"{where}: {line}\n  {text}" for text in _unlike(expected, finding, program)]
    return said + [f"{program.title}: {_shown(finding, program)}" for finding in left]


def _is_meant(expected: Expected, finding: Finding) -> bool:
    place = (finding["path"], finding["line"], finding["code"])
    same = place == (expected.path, expected.line, expected.code)
    return same and expected.expression in {"", finding["expression"]}


def _unlike(expected: Expected, finding: Finding, program: Program) -> list[str]:
    """How a finding differs from what is said of it."""
    said = []
    found = finding["confidence"]
    if expected.sure and found != expected.sure:
        said.append(f"expected {expected.sure}, found {found}")
    if not expected.sure and Confidence[found.upper()] < DEFAULT_CONFIDENCE:
        said.append(f"expected by default, found {found}")
    if expected.when and finding["when"] != expected.when:
        said.append(f"expected {expected.when}, found {finding['when']}")
    if expected.reached and finding["call_chain"] != expected.reached:
        said.append(f"expected reached by {expected.reached}, found {finding['call_chain']}")
    steps = [(program.places[place], text) for place, text in expected.because]
    chain = [((step["path"], step["line"]), step["text"]) for step in finding["evidence"]]
    whole = " ".join(finding["expression"].split())
    if f"on the CUDA tensor `{whole}`" in finding["message"]:
        said.append(f"the call is named as its own operand: {finding['message']}")
    if any(line < 1 or "``" in text for (_, line), text in chain):
        said.append(f"evidence without a place or a name: {chain}")
    if steps and steps != chain:
        said.append(f"expected because {steps}\n  found {chain}")
    return said


def _shown(finding: Finding, program: Program) -> str:
    line = program.files[finding["path"]].splitlines()[finding["line"] - 1].strip()
    return (
        f"{finding['path']}:{finding['line']}: {line}\n"
        f"  expected silence, found {finding['code']} ({finding['confidence']}) at `{finding['expression']}`"
    )
