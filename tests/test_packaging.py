"""The wheel: built, installed in a fresh environment, and run; without torch and without the source tree."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import syncscan
from tests.clones import copy_parts

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A copy of what the build reads, so that it leaves nothing in the repository."""
    folder = tmp_path_factory.mktemp("source")
    copy_parts(("pyproject.toml", "setup.py", "README.md", "LICENSE", "syncscan", "rules"), folder)
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    """The wheel, built with the tools that are installed here."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source]
    subprocess.run(build, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    return file


def fresh_python(folder: Path) -> Path:
    """An interpreter of a fresh environment.

    What syncscan depends on, and builds with, comes from the environment of the tests, so that no network
    is needed.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def install(python: Path, *arguments: str | Path) -> Path:
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", *arguments], check=True, capture_output=True)
    return python


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """An interpreter with the wheel."""
    return install(fresh_python(tmp_path_factory.mktemp("wheel")), wheel)


@pytest.fixture(scope="module")
def editable(source, wheel, tmp_path_factory) -> Path:  # after the wheel: both builds write into the copy
    """An interpreter with an editable installation."""
    return install(fresh_python(tmp_path_factory.mktemp("editable")), "--editable", source)


def run(python: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [python, *arguments], cwd=folder, env=clean, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_the_rule_book_and_the_operation_table(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {
        f"syncscan/{path.relative_to(ROOT / 'syncscan').as_posix()}"
        for path in (ROOT / "syncscan").rglob("*.py")
    }
    rules = {f"syncscan/rules/{path.name}" for path in (ROOT / "rules").glob("*.py")}
    stubs = {f"syncscan/rules/stubs/{path.name}" for path in (ROOT / "rules" / "stubs").glob("*.toml")}
    assert modules | rules | stubs | {"syncscan/rules/ops.toml", "syncscan/py.typed"} <= names
    assert not [name for name in names if name.startswith(("rules/", "tests/", "docs/"))]


def test_it_needs_no_torch(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    required = [
        line for line in archive.read(metadata).decode().splitlines() if line.startswith("Requires-Dist")
    ]
    assert not [line for line in required if "torch" in line and "extra" not in line]


@pytest.mark.parametrize("how", ["python", "editable"])
def test_the_installed_command_checks(how, request, tmp_path):
    python = request.getfixturevalue(how)
    (tmp_path / "a.py").write_text(BLOCKS)
    done = run(python.with_name("syncscan"), "check", "--output-format", "json", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert [finding["code"] for finding in json.loads(done.stdout)["findings"]] == ["SYN101"]


def test_what_runs_is_what_was_installed(python, tmp_path):
    script = "import syncscan, syncscan.rules; print(syncscan.__file__, syncscan.rules.__file__)"
    done = run(python, "-c", script, folder=tmp_path)
    assert str(ROOT) not in done.stdout
    assert done.stdout.count("site-packages/syncscan/") == 2


def test_an_editable_installation_runs_what_is_edited(editable, source, tmp_path):
    script = "import syncscan, syncscan.rules; print(syncscan.__file__, syncscan.rules.__file__)"
    done = run(editable, "-c", script, folder=tmp_path)
    assert done.stdout == f"{source}/syncscan/__init__.py {source}/rules/__init__.py\n"


def test_the_source_tree_runs_as_it_is(tmp_path):
    done = run(Path(sys.executable), "-m", "syncscan", "rule", folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "SYN101" in done.stdout


def test_the_source_tree_lends_the_package_its_rules_and_no_other_folder(tmp_path):
    script = "import syncscan, importlib.util as u, sys; print(*map(bool, map(u.find_spec, sys.argv[1:])))"
    names = ("syncscan.rules", "syncscan.rules.item_read", "syncscan.tests", "syncscan.docs")
    done = run(Path(sys.executable), "-c", script, *names, folder=ROOT)
    assert done.stdout == "True True False False\n"


def test_the_installed_command_writes_a_page(python, tmp_path):
    (tmp_path / "a.py").write_text(BLOCKS)
    done = run(python.with_name("syncscan"), "check", "--output-format", "html", "a.py", folder=tmp_path)
    assert done.stdout.startswith("<!doctype html>"), done.stderr


def test_the_installed_command_prints_both_forms_of_a_template(python, tmp_path):
    done = run(python.with_name("syncscan"), "recipe", "diff", "upload", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("--- blocking/uploads.py\n+++ reference/uploads.py\n")


def test_the_versions_agree():
    assert f"version: {syncscan.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    newest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")[2]
    assert newest.startswith(f"{syncscan.__version__} - ")


def test_the_changelog_has_one_line_for_a_change():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.*)", text, re.MULTILINE)) <= {"Added", "Changed", "Fixed"}
    assert max(map(len, text.splitlines())) <= 130
    entries = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(set(entries)) == len(entries)  # a merge may repeat them
