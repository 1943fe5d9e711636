"""The work of ``syncscan facts record``: run a command, and write the devices of the values of the project's functions."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from syncscan.commands.observed import FactRecording
from syncscan.commands.running import run
from syncscan.config import find_config
from syncscan.errors import EXIT_OK, ConfigError
from syncscan.trace.front import step_behind
from syncscan.trace.launch import Launched
from syncscan.trace.store import read_parts


def record(
    output: Path, command: tuple[str, ...], packages: tuple[str, ...], *, append: bool, simulate: bool
) -> int:
    """Run a command and write the facts of its run; returns the exit status."""
    if not command or not command[0]:
        raise ConfigError("no command given; write `syncscan facts record -- pytest tests`")
    config = find_config(Path.cwd())
    recording = FactRecording(config.root, output, packages, append=append)
    front = step_behind()
    parts = Path(tempfile.mkdtemp(prefix="syncscan-"))
    options = {"detector": "none", **recording.for_hook()}

    def report(launched: Launched) -> int:
        processes = read_parts(parts).processes
        for note in dict.fromkeys(note for process in processes for note in process.notes):
            click.echo(f"syncscan: {note}", err=True)
        recording.write(processes, launched.status)
        return EXIT_OK

    try:
        return run(command, parts, options, front, report, config.table() if simulate else None)
    finally:
        shutil.rmtree(parts, ignore_errors=True)
