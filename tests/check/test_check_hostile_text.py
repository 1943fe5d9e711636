"""What the checked files say, in their names, their source and their comments, never commands a terminal or a CI."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan.report.safe_text import safe_line, safe_lines

ROOT = Path(__file__).resolve().parents[2]
CONTROLS = "\x1b[2J\x1b]0;title\x07 \x9b31m \x7f \x08 \u202e \u2066 \u2028"
SOURCE = f"""\
import torch

losses = torch.zeros(8, device="cuda")  # {CONTROLS}
n = {{"{CONTROLS}": losses.sum()}}["{CONTROLS}"].item() + losses.sum().item()  # {CONTROLS}
x = 1  # syncscan: ignore[{CONTROLS}] unknown
y = 2  # syncscan: ignore[SYN101] {CONTROLS}
z = 3  # syncscan: ignoer[SYN101] {CONTROLS}
"""
NAMES = {
    "a-newline": "a\n::error file=b.py,line=1::pwned.py",
    "a-command": "::error file=b.py,line=1::pwned.py",
    "a-command-after-spaces": " \u2003::error ::pwned.py",
    "controls": f"{CONTROLS}.py",
    "a-carriage-return": "a\rb.py",
    "not-utf-8": "a\udcff\x1b.py",
}
FORMATS = {
    "text": [],
    "diff": ["--diff"],
    "github": ["--output-format", "github"],
    "statistics": ["--statistics"],
}
COMMAND = [sys.executable, "-m", "syncscan", "check"]
WORKFLOW_COMMAND = re.compile(r"^\s*::", re.MULTILINE)


@pytest.fixture(params=NAMES.values(), ids=NAMES)
def hostile(request, project) -> Path:
    """A project of a file with a hostile name and content, and one that is no Python."""
    return project({request.param: SOURCE, f"bad{request.param}": f"x = '\n# {CONTROLS}"})


def shown_on_a_terminal(folder: Path, *arguments: str) -> str:
    """What a command writes to a terminal that knows no colours."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "NO_COLOR": "1"}
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment, stdout=follower, stderr=follower
    ) as process:
        os.close(follower)
        chunks = []
        while chunk := read_or_end(leader):
            chunks.append(chunk)
        process.wait()
    os.close(leader)
    return b"".join(chunks).decode()


def read_or_end(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""


@pytest.mark.parametrize("arguments", FORMATS.values(), ids=FORMATS)
def test_a_terminal_gets_no_controls(project, arguments):
    root = project(dict.fromkeys(NAMES.values(), SOURCE) | {"bad.py": f"x = '\n# {CONTROLS}"})
    shown = shown_on_a_terminal(root, *arguments, ".", "gone\x1b[2J\n::error::.py")
    assert ("SYN101" in shown, "bad.py" in shown) == (True, True)
    assert shown == safe_lines(shown).replace("\\r\\r\n", "\r\n")


@pytest.mark.parametrize("arguments", [["--fix"], []], ids=["fix", "check"])
def test_a_name_starts_no_workflow_command(syncscan, hostile, arguments):
    run = syncscan("check", *arguments)
    assert "SYN101" in run.stdout
    assert run.stderr.count("\n") == 1
    assert not WORKFLOW_COMMAND.search(run.stdout + run.stderr)
    assert run.stdout + run.stderr == safe_lines(run.stdout + run.stderr)


def test_the_source_is_underlined_where_it_is_escaped(syncscan, project):
    project({"a.py": 'import torch\ns = "\x1b\x9b"; t = torch.zeros(1, device="cuda").item()\n'})
    source, underline = syncscan("check").stdout.splitlines()[1:3]
    start, end = underline.index("^"), underline.rindex("^") + 1
    assert source[start:end] == 'torch.zeros(1, device="cuda").item()'
    assert r's = "\x1b\x9b"; t' in source


def test_github_gets_one_command_a_line(syncscan, hostile):
    run = syncscan("check", "--output-format", "github")
    lines = run.stdout.splitlines()
    assert all(re.match(r"::(error|warning) title=[^:]*,file=[^:]*,line=\d+[^:]*::", line) for line in lines)
    assert run.stdout == safe_lines(run.stdout)


def test_github_can_find_a_file_with_a_newline_in_its_name(syncscan, project):
    project({"a\nb,c:100%.py": SOURCE})
    assert ",file=a%0Ab%2Cc%3A100%25.py,line=4," in syncscan("check", "--output-format", "github").stdout


def test_json_loses_nothing_and_holds_no_controls(syncscan, project):
    project({f"a\n{CONTROLS}.py": SOURCE})
    out = syncscan("check", "--output-format", "json").stdout
    assert out == safe_lines(out)
    findings = json.loads(out)["findings"]
    assert {finding["path"] for finding in findings} == {f"a\n{CONTROLS}.py"}
    (read,) = [f for f in findings if f["code"] == "SYN101" and f["line"] == 4 and "[" not in f["expression"]]
    assert read["expression"] == "losses.sum().item()"
    assert f"# syncscan: ignore[SYN101] {CONTROLS}" in {finding["expression"] for finding in findings}


@pytest.mark.parametrize("name", ["a\tb\nc.py", 'a"b\n.py', "\x1b[2J.py", "größe.py", "a b.py", "a\\\x07.py"])
def test_a_diff_in_a_pipe_can_be_applied(syncscan, project, name):
    root = project({name: "x = '\x1b[2J'  # syncscan: ignore[SYN101] gone\r\ny = '\u202e'\n"})
    diff = syncscan("check", "--diff").stdout
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=root, check=True)
    assert (root / name).read_bytes() == "x = '\x1b[2J'\r\ny = '\u202e'\n".encode()


def test_settings_are_shown_without_controls(syncscan, project):
    project({"pyproject.toml": '[tool.syncscan]\nexclude = ["\\u001b[2J", "\\u009b"]\n'})
    run = syncscan("check", "--show-settings")
    assert r'exclude = ["\U0000001b[2J", "\U0000009b"]' in run.stdout
    assert run.stdout == safe_lines(run.stdout)


def test_explain_shows_no_controls(syncscan):
    run = syncscan("rule", "\x1b[2J\n\u202e")
    assert run.stderr == safe_line(run.stderr[:-1]) + "\n"
