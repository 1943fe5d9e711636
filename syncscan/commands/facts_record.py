"""The work of ``syncscan facts record``: run a command, and write the devices of the values of the project's functions."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from syncscan.commands.observed import facts_of, without_changed
from syncscan.commands.running import run
from syncscan.config import find_config
from syncscan.errors import EXIT_OK, ConfigError
from syncscan.facts import FactSet, read_facts
from syncscan.report.words import plural
from syncscan.system.files import replace_file
from syncscan.trace.front import step_behind
from syncscan.trace.launch import Launched
from syncscan.trace.store import Process, read_processes


def record(
    output: Path, command: tuple[str, ...], packages: tuple[str, ...], *, append: bool, simulate: bool
) -> int:
    """Run a command and write the facts of its run; returns the exit status."""
    if not command or not command[0]:
        raise ConfigError("no command given; write `syncscan facts record -- pytest tests`")
    for package in packages:
        if not package.isidentifier():
            raise ConfigError(f"--package {package}: write the name of a package, such as torchvision")
    if not output.absolute().parent.is_dir():
        raise ConfigError(f"-o {output}: there is no such folder to write it to")
    earlier = read_facts(output) if append and output.exists() else FactSet()
    config = find_config(Path.cwd())
    root, table = config.root.resolve(), config.table()
    options = {"detector": "none", "observe": str(root), "packages": ",".join(packages)}
    front = step_behind()
    parts = Path(tempfile.mkdtemp(prefix="syncscan-"))

    def report(_launched: Launched) -> int:
        processes = read_processes(parts)
        now = facts_of(processes, root)
        facts = without_changed(earlier, now)
        facts.merge(now)
        replace_file(output, facts.text())
        _say(output, now, facts, processes)
        return EXIT_OK

    try:
        return run(command, parts, options, front, report, table if simulate else None)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _say(output: Path, now: FactSet, facts: FactSet, processes: list[Process]) -> None:
    for note in dict.fromkeys(note for process in processes for note in process.notes):
        click.echo(f"syncscan: {note}", err=True)
    more = f", {len(facts)} with those of before" if len(facts) != len(now) else ""
    click.echo(
        f"syncscan: {output} has facts of {plural(len(now), 'function')}{more}{_why_none(now, processes)}",
        err=True,
    )


def _why_none(now: FactSet, processes: list[Process]) -> str:
    if len(now):
        return ""
    if not any(process.torch for process in processes):
        return ": no process imported torch"
    return (
        ": none of the project's was called after torch was imported; --package NAME adds those of a package"
    )
