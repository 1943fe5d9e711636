"""The README shows what is printed, and names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from syncscan.cli import COMMANDS
from syncscan.commands.check import command

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_example_prints_what_the_readme_shows(syncscan, project):
    (source,), (shown,) = blocks("python"), blocks("text")
    project({"sampler.py": source})
    done = syncscan("check", "sampler.py")
    seconds = re.compile(r"in \d+\.\d s")
    assert seconds.sub("in 0.1 s", done.stdout) == seconds.sub("in 0.1 s", shown)
    assert (done.stderr, done.status) == ("", 1)


def test_every_option_of_check_in_the_readme_exists():
    options = {option for parameter in command.params for option in parameter.opts}
    used = {
        option
        for line in README.splitlines()
        for call in re.findall(r"syncscan check[^`#&]*", line)
        for option in re.findall(r"--[a-z-]+", call)
    }
    assert used <= options


def test_the_commands_in_the_table_exist():
    rows = re.findall(r"^\| (`syncscan .*?) \|", README, re.MULTILINE)
    named = re.findall(r"`syncscan ([a-z]+)", "\n".join(rows))
    assert named
    assert set(named) <= set(COMMANDS)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)", README))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
