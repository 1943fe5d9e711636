"""The baseline: what is known is not reported, wherever it moves, and what is new is."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from syncscan.check.baseline import normalised
from tests.check.edits import commit_all, edit, git
from tests.check.marks import CORPUS

HEAD = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\n\n\n'
READ = "def report():\n    print(losses.sum().item())\n"
OTHER = "def show():\n    print(losses.max().tolist())\n"


def new(syncscan, *arguments: str) -> list[tuple[str, int, str]]:
    """Path, line and code of what a check reports against the baseline."""
    done = syncscan("check", "--baseline", "base.json", "--output-format", "json", *arguments)
    assert done.stderr == ""
    return [(f["path"], f["line"], f["code"]) for f in json.loads(done.stdout)["findings"]]


def write(syncscan, *arguments: str) -> str:
    done = syncscan("check", "--write-baseline", "base.json", *arguments)
    assert (done.status, done.stdout.partition(";")[0]) == (0, "no findings")
    return done.stderr


def test_what_is_known_is_not_reported_and_what_is_new_is(syncscan, project):
    root = project({"a.py": HEAD + READ})
    assert write(syncscan) == "syncscan: base.json has 1 finding: 1 added, 0 removed\n"
    done = syncscan("check", "--baseline", "base.json")
    assert re.sub(r"\d\.\d s", "0.1 s", done.stdout) == (
        "no findings; 1 in the baseline, 1 file checked in 0.1 s\n"
    )
    assert (done.stderr, done.status) == ("", 0)
    (root / "a.py").write_text(HEAD + OTHER + READ)
    assert new(syncscan) == [("a.py", 7, "SYN102")]
    assert syncscan("check", "--baseline", "base.json").status == 1


def test_the_file_has_one_line_for_each_entry_in_order(syncscan, project):
    root = project({"b.py": HEAD + READ, "a.py": HEAD + OTHER + READ + "    losses.sum().item()\n"})
    write(syncscan)
    text = (root / "base.json").read_text()
    assert text.splitlines() == [
        "[",
        '{"path": "a.py", "function": "report", "code": "SYN101", "expression": "losses.sum().item()", "count": 2},',
        '{"path": "a.py", "function": "show", "code": "SYN102", "expression": "losses.max().tolist()", "count": 1},',
        '{"path": "b.py", "function": "report", "code": "SYN101", "expression": "losses.sum().item()", "count": 1},',
        '{"version": 1}',
        "]",
    ]
    write(syncscan)
    assert (root / "base.json").read_text() == text


def test_a_second_equal_finding_in_a_function_is_new(syncscan, project):
    root = project({"a.py": HEAD + READ})
    write(syncscan)
    (root / "a.py").write_text(HEAD + READ + "    print(losses.sum() .item())\n")
    assert new(syncscan) == [("a.py", 8, "SYN101")]


def test_an_equal_finding_in_another_function_is_new(syncscan, project):
    root = project({"a.py": HEAD + READ})
    write(syncscan)
    (root / "a.py").write_text(HEAD + READ + READ.replace("report", "again"))
    assert new(syncscan) == [("a.py", 9, "SYN101")]


EQUAL = {
    "spaces": ("f( a,b )", "f(a, b)"),
    "lines": ("f(\n    a,\n    b,\n)", "f(a, b)"),
    "comments": ("f(\n    a,  # the first\n    b,\n)", "f(a, b)"),
    "chains": ("(\n    x.sum()\n    .item()\n)", "x.sum().item()"),
    "an-open-chain": ("x.sum(\n).item()", "x.sum().item()"),
    "quotes": ("x['a']", 'x["a"]'),
    "prefixes-of-strings": ("x[u'a']", 'x["a"]'),
    "brackets": ("int((x))", "int(x)"),
    "statements": ("x[ 0 ]=1", "x[0] = 1"),
    "no-python": ("{x !r}  and", "{x !r} and"),
}


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
def test_formatting_changes_no_entry(one, other):
    assert normalised(one) == normalised(other)


def test_other_expressions_have_other_entries():
    texts = ["x.item()", "y.item()", "x.item", "x[0].item()", "x[-0].item()", "x = 1", "f(a, *b)", "f(*a, b)"]
    assert len({normalised(text) for text in texts}) == len(texts)


def test_what_is_gone_is_told_and_forgotten_by_writing_again(syncscan, project):
    root = project({"a.py": HEAD + READ, "b.py": HEAD + OTHER})
    write(syncscan)
    (root / "a.py").write_text(HEAD)
    (root / "b.py").unlink()
    told = "syncscan: 2 findings of base.json are gone; --write-baseline base.json removes the entries\n"
    assert syncscan("check", "--baseline", "base.json").stderr == told
    data = json.loads(syncscan("check", "--baseline", "base.json", "--output-format", "json").stdout)
    assert data["baseline"] == {"known": 0, "gone": 2}
    assert write(syncscan) == "syncscan: base.json has 0 findings: none added, 2 removed\n"
    assert (root / "base.json").read_text() == '[\n{"version": 1}\n]\n'


def test_a_run_forgets_nothing_that_it_does_not_see(syncscan, project):
    """Files that are not checked, codes that are not asked for, files that cannot be parsed."""
    root = project({"a.py": HEAD + READ, "b.py": HEAD + OTHER + READ, "pyproject.toml": ""})
    write(syncscan)
    text = (root / "base.json").read_text()
    for arguments in (
        ["a.py"],
        ["--ignore", "SYN102"],
        ["--min-confidence", "proved", "b.py"],
        ["--when", "step"],
    ):
        assert "gone" not in syncscan("check", "--baseline", "base.json", *arguments).stderr
        write(syncscan, *arguments)
        assert (root / "base.json").read_text() == text
    (root / "b.py").write_text(HEAD + OTHER + "def\n")
    done = syncscan("check", "--write-baseline", "base.json")
    assert done.status == 2
    assert (root / "base.json").read_text() == text


def test_what_is_suppressed_since_is_gone(syncscan, project):
    root = project({"a.py": HEAD + READ})
    write(syncscan)
    (root / "a.py").write_text(HEAD + "# syncscan: file-ignore[SYN101] a script\n" + READ)
    assert "1 finding of base.json is gone" in syncscan("check", "--baseline", "base.json").stderr


MOVES = {
    "told-to-git": lambda root: git(root, "mv", "a.py", "c.py"),
    "committed": lambda root: (git(root, "mv", "a.py", "c.py"), commit_all(root)),
    "only-moved": lambda root: (root / "a.py").rename(root / "c.py"),
    "to-a-folder": lambda root: ((root / "sub").mkdir(), git(root, "mv", "a.py", "sub/c.py")),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_renamed_file_keeps_what_is_known(syncscan, project, move):
    root = project({"a.py": HEAD + READ, "b.py": HEAD + OTHER})
    write(syncscan)
    commit_all(root)
    move(root)
    assert new(syncscan) == []
    write(syncscan)
    paths = [entry.get("path") for entry in json.loads((root / "base.json").read_text())]
    assert "a.py" not in paths
    assert {"c.py", "sub/c.py"} & set(paths)


def test_a_copy_of_a_file_is_new(syncscan, project):
    root = project({"a.py": HEAD + READ})
    write(syncscan)
    commit_all(root)
    (root / "c.py").write_text(HEAD + READ)
    commit_all(root)
    assert new(syncscan) == [("c.py", 7, "SYN101")]


def test_git_decides_which_file_was_renamed(syncscan, project):
    """Two files hold an equal finding and one is the renamed one; without git both would be candidates."""
    body = "".join(f"NUMBER_{n} = {n}\n" for n in range(40))
    root = project({"z.py": HEAD + READ + body})
    write(syncscan)
    commit_all(root)
    git(root, "mv", "z.py", "y.py")
    (root / "a.py").write_text(HEAD + READ)
    commit_all(root)
    assert new(syncscan) == [("a.py", 7, "SYN101")]


def test_settings_name_the_baseline_beside_them(syncscan, project):
    root = project({"pyproject.toml": '[tool.syncscan]\nbaseline = "base.json"\n', "pkg/a.py": HEAD + READ})
    write(syncscan)
    assert "1 in the baseline" in syncscan("check", "pkg").stdout
    assert 'baseline = "base.json"' in syncscan("check", "--show-settings", "pkg").stdout
    (root / "base.json").unlink()
    done = syncscan("check", "pkg")
    assert (done.stderr, done.status) == (
        "syncscan: base.json: no such baseline; --write-baseline base.json makes it\n",
        2,
    )


def test_what_is_known_is_not_fixed(syncscan, project):
    source = 'import torch\n\nx = torch.tensor(0.0, device="cuda")\n'
    root = project({"a.py": source})
    write(syncscan)
    syncscan("check", "--baseline", "base.json", "--unsafe-fixes")
    assert (root / "a.py").read_text() == source


BAD = {
    "no-json": ("nothing", "no baseline: Expecting value"),
    "no-version": ("[]", "no baseline: it does not end in a version"),
    "another-version": ('[{"version": 9}]', "it is of version 9, and this is version 1"),
    "no-path": (
        '[{"code": "SYN101"}, {"version": 1}]',
        "entry 1 lacks one of path, function, code, expression",
    ),
    "no-count": (
        '[{"path": "", "function": "", "code": "", "expression": "", "count": 0}, {"version": 1}]',
        "entry 1 has no count from 1 on",
    ),
    "a-conflict": ('[\n<<<<<<< HEAD\n{"version": 1}\n]', "no baseline: Expecting value: line 2"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_a_bad_baseline_gets_one_line(syncscan, project, text, message):
    project({"a.py": HEAD, "base.json": text})
    done = syncscan("check", "--baseline", "base.json")
    assert message in done.stderr
    assert (done.stderr.count("\n"), done.stdout, done.status) == (1, "", 2)


CONTRADICTIONS = {
    "two-files": ("--baseline base.json --write-baseline b.json", "give one of them"),
    "with-fixes": ("--write-baseline b.json --fix", "leave fixes and - out"),
    "no-reason": ("--add-ignores", "--add-ignores needs --reason TEXT"),
    "reason-alone": ("--reason why", "--reason is for the comments"),
    "ignores-and-fixes": ("--add-ignores --reason why --fix", "give one of them at a time"),
}


@pytest.mark.parametrize(("arguments", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictions_are_refused(syncscan, project, arguments, message):
    project({"a.py": HEAD, "base.json": '[{"version": 1}]'})
    done = syncscan("check", *arguments.split())
    assert message in done.stderr
    assert done.status == 2


def copy_programs(root: Path, count: int) -> None:
    """The programs of one file with the most findings."""
    files = sorted(CORPUS.glob("*/*.py"), key=lambda file: (-file.read_text().count("# expect:"), file))
    for file in files[:count]:
        text = re.sub(r" *# (expect|silent|because|at|reached|todo|false)\b.*", "", file.read_text())
        (root / file.name).write_text(text)


@pytest.mark.long
def test_nothing_known_becomes_new_in_200_random_edits(syncscan, project):
    root = project({})
    copy_programs(root, 12)
    write(syncscan)
    commit_all(root)
    known = sum(entry.get("count", 0) for entry in json.loads((root / "base.json").read_text()))
    assert known > 100
    chance = random.Random(14)
    for number in range(1, 201):
        edit(root, chance)
        if number % 20 == 0:
            assert new(syncscan) == [], f"after {number} edits"
