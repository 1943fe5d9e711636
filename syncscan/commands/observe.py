"""``syncscan observe``: run a command and keep where the values of the project's functions lived."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.running import run
from syncscan.config import find_config
from syncscan.errors import EXIT_OK, ConfigError
from syncscan.facts import FactSet, read_facts
from syncscan.files import replace_file
from syncscan.observed import facts_of, without_changed
from syncscan.report.records import plural
from syncscan.trace.front import step_behind
from syncscan.trace.launch import Launched
from syncscan.trace.store import Process, read_processes

DEFAULT_FILE = Path("syncscan-facts.json")


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "-o", "--output", type=parameters.path, default=DEFAULT_FILE, show_default=True, metavar="FACTS.json"
)
@click.option("--append", is_flag=True, help="Add to the facts that the file holds.")
@click.option("--simulate", is_flag=True, help="Run on a simulated GPU: needs no GPU.")
@click.option(
    "--package",
    "packages",
    type=parameters.text,
    multiple=True,
    metavar="NAME",
    help="Observe the functions of this package too, wherever it is installed; may be repeated.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(
    output: Path, *, append: bool, simulate: bool, packages: tuple[str, ...], command: tuple[str, ...]
) -> int:
    """Run COMMAND as it is and keep where its parameters, results and attributes lived.

    What is kept are facts such as "on the GPU in 340 calls", of the project's functions and those of the
    packages that are named, and never a value. `syncscan check --facts FACTS.json` uses them. The exit
    status is that of COMMAND.
    """
    if not command or not command[0]:
        raise ConfigError("no command given; write `syncscan observe -- pytest tests`")
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
