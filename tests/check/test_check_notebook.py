"""Notebooks: their cells are checked, reported by cell and line, and fixed with all else as it was."""

from __future__ import annotations

import ast
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.check.notebook import program, read_notebook

SETUP = 'import torch\n\nlosses = torch.zeros(8, device="cuda")'
OUTPUTS = [{"output_type": "stream", "name": "stdout", "text": ["0.0\n", "é\n"]}]


def cell(source: str, kind: str = "code", *, as_list: bool = True) -> dict:
    text = source.splitlines(keepends=True) if as_list else source
    base = {"cell_type": kind, "id": "a1", "metadata": {"tags": []}, "source": text}
    return base | ({"execution_count": 3, "outputs": OUTPUTS} if kind == "code" else {})


def notebook(*cells: dict, language: str = "python", indent: int | None = 1) -> str:
    data = {
        "cells": list(cells),
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


NOTEBOOK = notebook(
    cell("# A title\n\nlosses.item()", "markdown"),
    cell(SETUP),
    cell("%matplotlib inline\nprint(\n    losses.sum().item())"),
    cell("x = torch.tensor([1, 2], device='cuda')\n", as_list=False),
)

EXPECTED = """\
a.ipynb:cell 3:3:5: SYN101 `.item()` on the CUDA tensor `losses.sum()` blocks the CPU until the number is in host memory [item-read, proved, warning]
3 |     losses.sum().item())
  |     ^^^^^^^^^^^^^^^^^^^
"""


def found(syncscan, *arguments: str) -> list[tuple[int, int, str]]:
    done = syncscan("check", "--output-format", "json", *arguments)
    return [(f["cell"], f["line"], f["code"]) for f in json.loads(done.stdout)["findings"]]


def test_findings_name_the_cell_and_its_line(syncscan, project):
    project({"a.ipynb": NOTEBOOK})
    assert found(syncscan) == [(3, 3, "SYN101"), (4, 1, "SYN301")]
    assert found(syncscan, "a.ipynb") == [(3, 3, "SYN101"), (4, 1, "SYN301")]
    text = syncscan("check").stdout
    assert text.startswith(EXPECTED)
    assert 'device="cuda"' in text
    assert "(a.ipynb:cell 2:3)" in text


def test_a_notebook_among_examples_is_one_of_them(syncscan, project):
    project({"examples/a.ipynb": NOTEBOOK})
    assert syncscan("check").status == 0
    assert [code for *_, code in found(syncscan, "--when", "all")] == ["SYN101", "SYN301"]


def test_a_notebook_on_standard_input(syncscan, project):
    project({})
    done = syncscan(
        "check", "-", "--stdin-filename", "a.ipynb", "--output-format", "json", stdin=NOTEBOOK.encode()
    )
    assert [f["cell"] for f in json.loads(done.stdout)["findings"]] == [3, 4]


MAGICS = {
    "line-magic": ("%matplotlib inline\nlosses.item()", [2]),
    "indented": ("if losses is not None:\n    %pip list\n    losses.item()", [3]),
    "shell": ("!ls *.py\nlosses.item()", [2]),
    "shell-of-several-lines": ("!ls \\\n  *.py\nlosses.item()", [3]),
    "assigned-shell": ("files = !ls\nlosses.item()", [2]),
    "assigned-magic": ("here = %pwd\nlosses.item()", [2]),
    "question": ("losses?\nlosses.item()", [2]),
    "question-before": ("?losses\nlosses.item()", [2]),
    "timed-line": ("%time losses.item()", [1]),
    "timed-line-with-options": ("%timeit -n 10 -q losses.item()", [1]),
    "timed-cell": ("%%time\nlosses.item()", [2]),
    "captured-cell": ("\n%%capture out\nlosses.item()", [3]),
    "shell-cell": ("%%bash\nlosses.item()", []),
    "file-cell": ("%%writefile a.py\nlosses.item()", []),
    "await": ("await losses.item()", [1]),
    "a-modulus": ("n = (4\n%3)\nlosses.item()", [3]),
    "in-a-string": ('s = """\n%time x\n!ls\n"""\nlosses.item()', [5]),
    "no-line-end": ("losses.item()", [1]),
    "empty": ("", []),
}


@pytest.mark.parametrize(("source", "lines"), MAGICS.values(), ids=MAGICS)
def test_magics(syncscan, project, source, lines):
    project({"a.ipynb": notebook(cell(SETUP), cell(source), cell("y = 1"))})
    done = syncscan("check", "--output-format", "json", "--select", "SYN101")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert [(f["cell"], f["line"]) for f in data["findings"]] == [(2, line) for line in lines]
    assert data["files"]["failed"] == []


def test_a_cell_that_is_no_python_is_named_and_the_rest_checked(syncscan, project):
    project({"a.ipynb": notebook(cell(SETUP), cell("x = 1\ndef f(:\n"), cell("losses.item()"))})
    done = syncscan("check")
    assert done.stderr == "syncscan: a.ipynb:cell 2:2: syntax error: invalid syntax\n"
    assert "a.ipynb:cell 3:1:1: SYN101" in done.stdout
    assert done.status == 2


def test_the_summary_counts_a_file_that_is_analysed_in_part_once(syncscan, project):
    broken = notebook(cell("x = 1"), cell("def f(:\n"), cell("def g(:\n"))
    project({"a.ipynb": broken, "b.ipynb": broken, "bad.py": "def f(:\n", "good.py": "x = 1\n"})
    summary = syncscan("check").stdout
    assert re.fullmatch(r"no findings; 3 files checked \(2 in part\) in [\d.]+ s, 1 not analysed\n", summary)


def test_a_timed_line_is_shown_and_fixed_as_it_stands(syncscan, project):
    root = project({"a.ipynb": notebook(cell(SETUP), cell("%time x = torch.tensor([1, 2], device='cuda')"))})
    assert "1 | %time x = torch.tensor" in syncscan("check").stdout
    syncscan("check", "--unsafe-fixes")
    text = "".join(json.loads((root / "a.ipynb").read_text())["cells"][1]["source"])
    assert text.startswith("%time x = torch.tensor([1, 2]")
    assert "non_blocking=True" in text


def test_fixes_leave_outputs_and_all_else_as_they_are(syncscan, project):
    root = project({"a.ipynb": NOTEBOOK})
    shown = syncscan("check", "--unsafe-fixes", "--diff").stdout
    assert shown.startswith("--- a/a.ipynb\n+++ b/a.ipynb\n")
    done = syncscan("check", "--unsafe-fixes")
    assert re.search(r"^1 finding fixed, 1 finding left in 1 file", done.stdout, re.MULTILINE)
    before, after = NOTEBOOK.splitlines(), (root / "a.ipynb").read_text().splitlines()
    assert len(before) == len(after)
    changed = [(b, a) for b, a in zip(before, after, strict=True) if a != b]
    assert len(changed) == 1
    assert "non_blocking=True" in changed[0][1]
    assert found(syncscan) == [(3, 3, "SYN101")]


@pytest.mark.parametrize("indent", [1, 2, None])
def test_comments_are_written_into_cells(syncscan, project, indent):
    root = project({"a.ipynb": notebook(cell(SETUP), cell("n = 1\nlosses.item()"), indent=indent)})
    done = syncscan("check", "--add-ignores", "--reason", "shown once")
    assert (done.stderr, done.status) == ("", 0)
    source = json.loads((root / "a.ipynb").read_text())["cells"][1]["source"]
    assert source == ["n = 1\n", "# syncscan: ignore[SYN101] shown once\n", "losses.item()"]
    assert syncscan("check").status == 0


def test_json_that_would_not_come_out_as_it_is_is_left_alone(syncscan, project):
    text = NOTEBOOK.replace('"nbformat": 4', '"nbformat":   4')
    root = project({"a.ipynb": text})
    done = syncscan("check", "--unsafe-fixes")
    assert "a.ipynb: not fixed: its JSON is not written as Jupyter writes it" in done.stderr
    assert done.status == 2
    assert (root / "a.ipynb").read_text() == text


BAD = {
    "no-json": ("no json", "a.ipynb: no notebook: Expecting value"),
    "no-cells": ("{}", "a.ipynb: no notebook of nbformat 4"),
    "old": ('{"worksheets": []}', "open and save it in Jupyter"),
    "not-utf-8": (b"\xff", "a.ipynb: no notebook: 'utf-8' codec"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_what_is_no_notebook_gets_one_line(syncscan, project, content, message):
    project({"a.ipynb": content})
    done = syncscan("check")
    assert message in done.stderr
    assert (done.stderr.count("\n"), done.status) == (1, 2)


def test_a_notebook_of_another_language_has_nothing_to_check(syncscan, project):
    project({"a.ipynb": notebook(cell("losses.item()"), cell("x <- 1"), language="R")})
    done = syncscan("check")
    assert (done.stderr, done.status) == ("", 0)


OTHERS = {"data.json": "{}", "notes.txt": "x = 1\n", "a.sh": "#!/bin/sh\n"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_named_file_that_is_neither_gets_one_line(syncscan, project, name):
    project({name: OTHERS[name], "b.py": SETUP + "\nlosses.item()\n"})
    done = syncscan("check", name, "b.py")
    assert done.stderr == (
        f"syncscan: {name}: neither Python nor a notebook; name .py and .ipynb files, or folders\n"
    )
    assert "b.py:4:1: SYN101" in done.stdout
    assert done.status == 2


def test_a_script_with_another_suffix_is_python_by_its_first_line(syncscan, project):
    project({"tool.run": f"#!/usr/bin/env python3\n{SETUP}\nlosses.item()\n"})
    assert "tool.run:5:1: SYN101" in syncscan("check", "tool.run").stdout


def test_a_notebook_is_no_module_of_the_project(syncscan, project):
    """It may be called like one, and what it passes to the project says nothing about it."""
    project({
        "a.ipynb": notebook(cell("import a\nimport torch\na.read(torch.zeros(3, device='cuda'))")),
        "a.py": "def read(x):\n    return x.item()\n",
    })  # fmt: skip
    assert json.loads(syncscan("check", "--output-format", "json").stdout)["findings"] == []


@pytest.mark.parametrize("name", ["github", "gitlab", "sarif"])
def test_readers_that_know_no_cells_get_them_in_the_message(syncscan, project, name):
    project({"a.ipynb": NOTEBOOK})
    text = syncscan("check", "--output-format", name).stdout
    assert "cell 3, line 3: `.item()`" in text


def test_the_baseline_knows_findings_of_cells_wherever_they_move(syncscan, project):
    root = project({"a.ipynb": NOTEBOOK})
    syncscan("check", "--write-baseline", "base.json")
    data = json.loads(NOTEBOOK)
    data["cells"].insert(2, cell("# more"))
    (root / "a.ipynb").write_text(json.dumps(data, indent=1))
    assert syncscan("check", "--baseline", "base.json").status == 0


LINES = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "%magic",
            "!ls",
            "x?",
            "%time y = 2",
            "if x:",
            "    %pip",
            "    z = 3",
            "(",
            ")",
            "'''",
            "\\",
        ]
    ),
    max_size=6,
)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_a_program_is_python_and_has_the_lines_of_its_cells(cells):
    content = notebook(*(cell("\n".join(lines)) for lines in cells)).encode()
    read = read_notebook(content)
    text, places, _ = program(read.text, read.numbers)
    ast.parse(text)
    assert len(text.split("\n")) == len(read.text.split("\n"))
    assert len(places.numbers) == len(cells)
    assert read.written(read.text) == content
