"""Which project is read around what is named, and what is reported."""

from __future__ import annotations

import json

import pytest

from syncscan.check.discover import load_project
from syncscan.config import Config

LAYOUT = {
    "pyproject.toml": "",
    "pkg/__init__.py": "",
    "pkg/a.py": "",
    "pkg/sub/__init__.py": "",
    "pkg/sub/b.py": "",
    "tests/test_a.py": "",
}
PACKAGE = ["pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py"]
EVERYTHING = [*PACKAGE, "tests/test_a.py"]


@pytest.mark.parametrize(
    ("named", "indexed", "reported"),
    [
        ([""], EVERYTHING, EVERYTHING),
        (["pkg"], PACKAGE, PACKAGE),
        (["pkg", "tests"], EVERYTHING, EVERYTHING),
        (["pkg/sub"], PACKAGE, ["pkg/sub/__init__.py", "pkg/sub/b.py"]),
        (["pkg/a.py"], PACKAGE, ["pkg/a.py"]),
        (["tests/test_a.py"], EVERYTHING, ["tests/test_a.py"]),
        (["pkg/a.py", "tests/test_a.py"], EVERYTHING, ["pkg/a.py", "tests/test_a.py"]),
    ],
    ids=["root", "package", "two-folders", "inside-a-package", "file", "test", "two-files"],
)
def test_what_is_indexed_and_what_is_reported(project, monkeypatch, named, indexed, reported):
    root = project(LAYOUT)
    monkeypatch.chdir(root)
    loaded = load_project([root / name for name in named], Config(root))
    assert [source.shown for source in loaded.sources] == indexed
    targets = loaded.targets if loaded.targets is not None else indexed
    assert sorted(targets) == reported


def test_a_file_outside_any_project_stands_alone(project, monkeypatch):
    root = project({"a.py": "", "b.py": ""})
    monkeypatch.chdir(root)
    loaded = load_project([root / "a.py"], Config(root))
    assert [source.shown for source in loaded.sources] == ["a.py"]


def test_a_package_without_a_project_is_read_whole(project, monkeypatch):
    root = project({"pkg/__init__.py": "", "pkg/a.py": "", "other.py": ""})
    monkeypatch.chdir(root)
    loaded = load_project([root / "pkg/a.py"], Config(root))
    assert [source.module for source in loaded.sources] == ["pkg", "pkg.a"]


def test_a_home_folder_under_git_is_no_project(project, monkeypatch):
    root = project({".git/HEAD": "", "scratch/a.py": "", "other/b.py": ""})
    monkeypatch.setenv("HOME", str(root))
    loaded = load_project([root / "scratch/a.py"], Config(root))
    assert len(loaded.sources) == 1


def test_bad_files_of_the_project_that_were_not_named_are_not_reported(syncscan, project):
    project(LAYOUT | {"pkg/bad.py": b"\xff", "pkg/worse.py": "def f(:"})
    run = syncscan("check", "pkg/a.py", "--output-format", "json")
    assert json.loads(run.stdout)["files"] == {
        "checked": 1,
        "skipped": 0,
        "failed": [],
        "newer": [],
        "unfixed": [],
    }
    assert run.status == 0


CALLEE = 'import torch\n\n\ndef lengths() -> torch.Tensor:\n    return torch.ones(4, device="cuda")\n'
CALLER = "from pkg.lens import lengths\n\n\ndef total() -> int:\n    return lengths().sum().item()\n"


def test_one_file_is_checked_with_what_the_project_knows(syncscan, project):
    project({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/lens.py": CALLEE, "pkg/run.py": CALLER})
    run = syncscan("check", "pkg/run.py")
    assert run.stdout.startswith("pkg/run.py:5:12: SYN101")
    assert "pkg/lens.py:5" in run.stdout  # the evidence is in the other file
    assert "; 1 file checked in" in run.stdout


@pytest.mark.parametrize("reader", ["a.py", "z.py"], ids=["read-before", "read-after"])
def test_a_global_of_another_module(syncscan, project, reader):
    buffers = 'import torch\n\nrows = buf, _ = torch.zeros(3, device="cuda"), None\n'
    steps = "from m import buf\n\n\ndef step():\n    return buf.item()\n"
    project({"pyproject.toml": "", "m.py": buffers, reader: steps})
    run = syncscan("check", ".")
    assert run.stdout.startswith(f"{reader}:5:12: SYN101")


def test_standard_input_stands_in_for_the_file_on_disk(syncscan, project):
    project({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/lens.py": CALLEE, "pkg/run.py": "old = 1\n"})
    run = syncscan("check", "-", "--stdin-filename", "pkg/run.py", stdin=CALLER.encode())
    assert run.stdout.startswith("pkg/run.py:5:12: SYN101")


def test_a_stand_in_for_torch_among_the_tests_hides_nothing(syncscan, project):
    blocks = 'import torch\n\ntorch.cuda.synchronize()\nprint(torch.zeros(3, device="cuda").sum().item())\n'
    project(
        {"pyproject.toml": "", "run.py": blocks, "tests/fakes/torch/__init__.py": "def zeros(*a, **k): ...\n"}
    )
    run = syncscan("check", ".", "--output-format", "json")
    assert [finding["code"] for finding in json.loads(run.stdout)["findings"]] == ["SYN401", "SYN101"]
