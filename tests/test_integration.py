"""What others run: the steps of the GitHub action, the hooks of pre-commit, and the workflows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from syncscan.commands.check import command

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
BLOCKS = 'import torch\n\nx = torch.zeros(8, device="cuda")\nx.sum().item()\nx.tolist()  # syncscan: ignore[SYN102] why\n'


def step(name: str) -> dict:
    (found,) = [step for step in ACTION["runs"]["steps"] if step.get("name", "").startswith(name)]
    return found


@pytest.fixture
def job(tmp_path):
    """Run steps of the action as a runner would: with what its environment names, and ours installed."""
    tools = tmp_path / "temp" / "syncscan" / "bin"
    tools.mkdir(parents=True)
    (tools / "python").symlink_to(sys.executable)
    script = f"#!{sys.executable}\nfrom syncscan.cli import main\nmain()\n"
    (tools / "syncscan").write_text(script)
    (tools / "syncscan").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text(BLOCKS)

    def run(name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "PYTHONPATH": str(ROOT),
            **inputs,
        }
        bash = [shutil.which("bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]]
        return subprocess.run(bash, cwd=work, env=environment, capture_output=True, text=True, check=False)

    return run


def inputs(**given: str) -> dict[str, str]:
    """The environment of the step that checks, with the defaults of the action."""
    names = {key: value.split(".")[1].split(" ")[0] for key, value in step("Check")["env"].items()}
    return {key: given.get(key, ACTION["inputs"][name]["default"]) for key, name in names.items()}


def test_the_action_annotates_and_writes_sarif(job, tmp_path):
    done = job("Check", **inputs())
    assert done.stdout.startswith("::warning title=SYN101 item-read,file=a.py,line=4")
    assert (done.stderr, done.returncode) == ("", 1)
    sarif = tmp_path / "temp" / "syncscan.sarif"
    assert (tmp_path / "output").read_text() == f"sarif={sarif}\n"
    assert "syncscan: 1 finding in 1 file" in (tmp_path / "summary").read_text()
    assert len(json.loads(sarif.read_text())["runs"][0]["results"]) == 2
    assert job("Leave out", SARIF=str(sarif)).returncode == 0
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "SYN101"


def test_the_inputs_of_the_action_arrive(job):
    assert job("Check", **inputs(FAIL_ON="error")).returncode == 0
    assert job("Check", **inputs(OPTIONS="--select SYN3 --jobs 1")).returncode == 0
    assert "nosuch.json" in job("Check", **inputs(BASELINE="nosuch.json")).stderr
    assert "--since" in job("Check", **inputs(SINCE="nosuch")).stderr
    assert "b.py" in job("Check", **inputs(PATHS="a.py b.py")).stdout


def test_no_input_reaches_a_shell_but_as_a_variable():
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one.get("run", "")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_what_exists(hook):
    program, name, *options = hook["entry"].split()
    known = {option for parameter in command.params for option in parameter.opts}
    assert (program, name) == ("syncscan", "check")
    assert {option for option in options if option.startswith("--")} <= known
    assert set(hook["types_or"]) == {"python", "jupyter"}


def test_the_hook_that_fixes_leaves_what_it_cannot_fix_to_the_others(syncscan, project):
    (hook,) = [hook for hook in HOOKS if hook["id"] == "syncscan-fix"]
    root = project({"a.py": BLOCKS})
    assert syncscan("check", "a.py").status == 1
    assert syncscan(*hook["entry"].split()[1:], "a.py").status == 0
    assert (root / "a.py").read_text() == BLOCKS
    (root / "b.py").write_text("def\n")
    assert syncscan(*hook["entry"].split()[1:], "b.py").status == 2


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name)
def test_every_snippet_of_yaml_is_one_and_names_hooks_and_inputs_that_exist(page):
    for text in page.read_text(encoding="utf-8").split("```yaml\n")[1:]:
        data = yaml.safe_load(text.partition("```")[0])
        for repo in data.get("repos", ()) if isinstance(data, dict) else ():
            assert {hook["id"] for hook in repo["hooks"]} <= {hook["id"] for hook in HOOKS}
        for job in data.get("jobs", {}).values() if isinstance(data, dict) else ():
            for one in job["steps"]:
                if "syncscan@" in one.get("uses", ""):
                    assert set(one["with"]) <= set(ACTION["inputs"])
