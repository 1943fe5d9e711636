"""The work of ``syncscan init``: check the project, propose files, and write them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from syncscan import __version__
from syncscan.check.baseline import Baseline
from syncscan.check.discover import load_project
from syncscan.check.frequency.functions import drives_models
from syncscan.check.libraries.reading import Libraries
from syncscan.check.session import Checked, check
from syncscan.config import find_config
from syncscan.errors import EXIT_OK, ConfigError
from syncscan.report.address import REPOSITORY
from syncscan.report.progress import ProgressBar
from syncscan.report.records import entry_points
from syncscan.report.safe_text import safe_line
from syncscan.system.files import replace_file
from syncscan.words import plural

SETTINGS, BASELINE = "pyproject.toml", "syncscan-baseline.json"
WORKFLOW = ".github/workflows/syncscan.yml"
_MOST = 8  # entry points: more are no help to who reads the settings
_JOB = """\
# Written by `syncscan init`.
name: syncscan
on: [pull_request]
permissions:
  contents: read
jobs:
  syncscan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install --quiet "{installed}"
      - run: syncscan check --output-format github
"""


def run(folder: Path, *, asks: bool, writes: bool) -> int:
    """Propose settings for a folder, and write them if the user agrees; returns the exit status."""
    config = find_config(folder)
    if config.source is not None:
        raise ConfigError(f"{config.source}: has a [tool.syncscan] table already; change it there")
    project = Libraries().added_to(load_project([folder], config), config)
    with ProgressBar(sys.stderr) as bar:
        hot = starts(check(project, config, bar, 0))
        outcome = check(project, replace(config, hot=hot), bar, 0, Baseline(folder / BASELINE, {}))
    assert outcome.baseline is not None
    files = proposed(folder, outcome.baseline, hot)
    for name, text in files.items():
        shown = text if name != BASELINE else f"{plural(outcome.baseline.total, 'finding')}\n"
        click.echo(f"# {name}\n{''.join(map(_line, shown.splitlines()))}")
    if not writes or (asks and sys.stdin.isatty() and not click.confirm("Write these files?", default=True)):
        return EXIT_OK
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    click.echo(f"syncscan: {', '.join(files)} written; `syncscan check` reports new findings alone", err=True)
    return EXIT_OK


def _line(text: str) -> str:
    return f"{safe_line(text)}\n"


def starts(outcome: Checked) -> tuple[str, ...]:
    """Return the entry points of the steps: the functions that drive models, or else the models."""
    names = entry_points(outcome.findings)
    driving = tuple(name for name in names if drives_models(name.rpartition(":")[2].rpartition(".")[2]))
    return (driving or names)[:_MOST]


def proposed(folder: Path, baseline: Baseline, hot: Sequence[str]) -> dict[str, str]:
    """Return the files to write by their names, with their whole texts."""
    table = ["[tool.syncscan]", f'baseline = "{BASELINE}"']
    if hot:
        table += [
            "# Where each step starts; without it, `forward` methods and their like.",
            f"hot = {json.dumps(list(hot))}",
        ]
    file = folder / SETTINGS
    before = file.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if file.is_file() else ""
    files = {SETTINGS: before + "\n".join(table) + "\n", BASELINE: baseline.text()}
    installed = installable(folder)
    if installed and not (folder / WORKFLOW).exists():
        files[WORKFLOW] = _JOB.format(installed=installed)
    return files


def installable(folder: Path, repository: str = REPOSITORY) -> str:
    """Return what a job in a project can install: the repository at this version, or a wheel in the project; else ""."""
    if repository:
        return f"syncscan @ git+{repository}@v{__version__}"
    wheels = sorted(folder.glob("tools/syncscan-*.whl"))
    return wheels[-1].relative_to(folder).as_posix() if wheels else ""
