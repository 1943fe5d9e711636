"""What the commands and options are called, and what the newer ones do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan import __version__
from syncscan.cli import COMMANDS, RENAMED, SUBCOMMANDS
from syncscan.commands.init_run import installable

STEP = """\
import torch


class Runner:
    def execute_model(self, batch: torch.Tensor) -> int:
        return longest(batch.cuda())

    def load_model(self) -> float:
        return torch.zeros(8, device="cuda").sum().item()


def longest(lens: torch.Tensor) -> int:
    return lens.max().item()
"""
BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_does_what_the_new_one_does_and_says_so_in_one_line(syncscan, old):
    new = RENAMED[old]
    before, after = syncscan(old, "--help"), syncscan(*new, "--help")
    assert before.stdout == after.stdout
    assert before.stderr == (
        f"syncscan: `syncscan {old}` is now `syncscan {' '.join(new)}`; the old name works until version 1.1\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["--format", "concise"], ["--output-format", "concise"]),
        (["--all"], ["--when", "all"]),
        (["--hot-only"], ["--when", "step"]),
        (["--output", "json=a.json"], ["--output-file", "json=a.json"]),
    ],
)
def test_an_old_option_does_what_the_new_one_does(syncscan, project, old, new):
    project({"runner.py": STEP})
    before, after = (syncscan("check", "--quiet", *options) for options in (old, new))
    assert (before.stdout, before.status) == (after.stdout, after.status)
    assert before.stderr.startswith(f"syncscan: `{old[0]}` is now `--")
    assert after.stderr == ""


def test_old_settings_mean_what_they_did(syncscan, project):
    project({"runner.py": STEP, "pyproject.toml": "[tool.syncscan]\nall = true\n"})
    assert 'when = ["step", "unknown", "once", "test"]' in syncscan("check", "--show-settings").stdout
    project({"pyproject.toml": "[tool.syncscan]\nhot-only = true\nall = false\n"})
    assert 'when = ["step"]' in syncscan("check", "--show-settings").stdout


def found(run):
    return [(each["line"], each["when"]) for each in json.loads(run.stdout)["findings"]]


def test_when_chooses_findings_by_when_their_lines_run(syncscan, project):
    project({"runner.py": STEP})
    everything = found(syncscan("check", "--when", "all", "--output-format", "json"))
    assert {when for _, when in everything} == {"step", "once"}
    for times in ("step", "once", "once,step", "test"):
        run = syncscan("check", "--when", times, "--output-format", "json")
        assert found(run) == [each for each in everything if each[1] in times.split(",")]
    assert found(syncscan("check", "--when", "step,all", "--output-format", "json")) == everything
    assert "'stepp' is no time; did you mean 'step'?" in syncscan("check", "--when", "stepp").stderr
    assert "it is one of step, unknown, once, test, all" in syncscan("check", "--when", "never").stderr


def test_a_pattern_leaves_files_out_besides_those_of_the_settings(syncscan, project):
    settings = '[tool.syncscan]\nexclude = ["old/"]\n'
    project({"a.py": BLOCKS, "gen/b.py": BLOCKS, "old/c.py": BLOCKS, "pyproject.toml": settings})
    run = syncscan("check", "--exclude", "gen/", "--output-format", "concise")
    assert run.stdout.startswith("a.py:4:7: SYN101 ")
    assert run.stdout.count("SYN101") == 1
    assert syncscan("check", "--exclude", "!").stderr.startswith("syncscan: --exclude: '!' is no pattern")


def test_quiet_prints_findings_alone(syncscan, project):
    project({"a.py": BLOCKS})
    whole, quiet = syncscan("check"), syncscan("check", "--quiet")
    assert whole.stdout.startswith(quiet.stdout)
    assert "1 finding" in whole.stdout
    assert "1 finding" not in quiet.stdout
    project({"a.py": ""})
    assert syncscan("check", "-q").stdout == ""


def test_a_concise_report_has_a_line_for_each_finding(syncscan, project):
    project({"a.py": BLOCKS + BLOCKS.replace("losses", "other")})
    *lines, summary = syncscan("check", "--output-format", "concise").stdout.splitlines()
    assert [line.split(" ")[:2] for line in lines] == [["a.py:4:7:", "SYN101"], ["a.py:8:7:", "SYN101"]]
    assert summary.startswith("2 findings")


def test_colours_are_as_asked_for_whatever_the_terminal(syncscan, project, monkeypatch):
    project({"a.py": BLOCKS})
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in syncscan("check").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1" in syncscan("check", "--color", "always").stdout
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in syncscan("check").stdout
    assert "\x1b[" not in syncscan("check", "--color", "never").stdout


def test_a_report_goes_to_a_file_in_place_of_the_terminal_or_besides(syncscan, project):
    root = project({"a.py": BLOCKS})
    shown = syncscan("check", "--quiet").stdout
    run = syncscan("check", "--quiet", "-o", "report.txt")
    assert (run.stdout, (root / "report.txt").read_text()) == ("", shown)
    run = syncscan("check", "--quiet", "--output-file", "json=report.json")
    assert (run.stdout, len(json.loads((root / "report.json").read_text())["findings"])) == (shown, 1)
    assert "is not FILE or FORMAT=FILE" in syncscan("check", "-o", "toml=x").stderr


def test_a_report_for_a_pipe_or_a_link_leaves_it_in_place(syncscan, project):
    """As root, a report for `/dev/null` made a file of the device."""
    root = project({"a.py": BLOCKS})
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to(root / "behind")
    reader = os.open(root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    syncscan("check", "--quiet", "-o", "json=pipe", "-o", "json=link")
    assert len(json.loads(os.read(reader, 1 << 20))["findings"]) == 1
    os.close(reader)
    assert (root / "pipe").is_fifo()
    assert (root / "link").is_symlink()
    assert len(json.loads((root / "behind").read_text())["findings"]) == 1


def test_a_variable_names_the_folder_of_the_cache(syncscan, project, monkeypatch):
    root = project({"a.py": BLOCKS})
    monkeypatch.setenv("SYNCSCAN_CACHE_DIR", str(root / "cache"))
    syncscan("check")
    assert any((root / "cache").iterdir())
    assert str(root / "cache") in syncscan("clean").stdout
    assert not (root / "cache").exists()


def test_a_report_says_where_the_steps_start(syncscan, project):
    other = STEP.replace("Runner", "Other").replace("execute_model", "forward_batch")
    project({"pkg/__init__.py": "", "pkg/runner.py": STEP, "pkg/other.py": other})
    text = syncscan("check").stdout
    (line,) = [line for line in text.splitlines() if line.startswith("steps start at: ")]
    assert (
        line.partition(" hot = ")[2] == '["pkg.other:Other.forward_batch", "pkg.runner:Runner.execute_model"]'
    )
    project({"pyproject.toml": f"[tool.syncscan]\n{line.partition(': ')[2]}\n"})
    assert syncscan("check").stdout.count("SYN101") == text.count("SYN101")


def test_init_writes_settings_and_a_baseline(syncscan, project):
    root = project({"runner.py": STEP, "pyproject.toml": '[project]\nname = "mine"\n'})
    assert syncscan("check").status == 1
    dry = syncscan("init", "--dry-run")
    assert (root / "pyproject.toml").read_text() == '[project]\nname = "mine"\n'
    run = syncscan("init")
    assert (run.status, run.stdout) == (0, dry.stdout)
    assert 'hot = ["runner:Runner.execute_model"]' in (root / "pyproject.toml").read_text()
    again = syncscan("check")
    assert (again.status, "1 in the baseline" in again.stdout) == (0, True)
    assert "has a [tool.syncscan] table already" in syncscan("init").stderr


def test_the_job_of_init_installs_what_exists(syncscan, project):
    root = project({"runner.py": STEP})
    assert ".github" not in syncscan("init", "--dry-run").stdout
    project({"tools/syncscan-1.0.0-py3-none-any.whl": ""})
    syncscan("init")
    job = (root / ".github/workflows/syncscan.yml").read_text()
    assert '- run: pip install --quiet "tools/syncscan-1.0.0-py3-none-any.whl"\n' in job
    address = "https://github.com/somebody/syncscan"
    assert installable(root, address) == f"syncscan @ git+{address}@v{__version__}"


SUBJECTS = [*COMMANDS, *map(" ".join, SUBCOMMANDS), "facts record", "ops show"]


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_help_of_a_command_imports_neither_engine_nor_rules(name, tmp_path):
    script = (
        f"import sys; sys.argv = {['syncscan', *name.split(), '--help']!r}\n"
        "from syncscan.cli import main\ntry: main()\nexcept SystemExit: pass\n"
        "heavy = ('libcst', 'rich', 'pathspec', 'syncscan.check', 'syncscan.ops', 'syncscan.rules', 'torch')\n"
        "sys.exit(str([name for name in heavy if name in sys.modules]))\n"
    )
    variables = {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"
