"""``syncscan prove``: the options; `syncscan.commands.prove_run` does what they ask for."""

from __future__ import annotations

from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, option

EPILOG = """\b
Examples:
  syncscan prove engine.runner:Runner.step
  syncscan prove engine.runner:Runner.step src/ --output-format sarif
  syncscan prove engine.runner:Runner.step \\
      --assume "engine.runner:Runner.use_graphs = False"
  syncscan prove engine.runner:Runner.step --given trace/ --max-obstacles 20

\b
Exit status: 0 proved, or no more than --max-obstacles; 1 obstacles; 2 a wrong
option or setting, or a file that could not be analysed."""

WHAT = "What is proved"
CHANGES = "Ratchets"
OUTPUT = "Output"
SETTINGS = "Settings and cache"


@click.command("prove", cls=Command, epilog=EPILOG)
@click.argument("entry", metavar="MODULE:FUNCTION", type=parameters.text)
@click.argument("paths", nargs=-1, type=parameters.source)
@option(
    "--assume",
    group=WHAT,
    multiple=True,
    type=parameters.text,
    metavar="FACT",
    help="Assume 'module:Class.attribute = CONSTANT', or a named configuration of the settings; may be repeated.",
)
@option(
    "--given",
    group=WHAT,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Consider only lines and calls that ran in a trace of `syncscan trace --calls -o DIR`; may be repeated.",
)
@option(
    "--facts",
    group=WHAT,
    type=parameters.path,
    multiple=True,
    metavar="FILE",
    help="Use the facts that `syncscan facts record` wrote; may be repeated.",
)
@option(
    "--max-obstacles",
    group=CHANGES,
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit with status 0 up to this many obstacles.",
)
@option(
    "--baseline",
    group=CHANGES,
    type=parameters.path,
    metavar="FILE",
    help="Do not report the obstacles of this baseline.",
)
@option(
    "--write-baseline",
    group=CHANGES,
    type=parameters.path,
    metavar="FILE",
    help="Write all obstacles to this baseline, and drop entries without an obstacle.",
)
@option(
    "--output-format",
    group=OUTPUT,
    type=click.Choice(["text", "json", "sarif", "html"]),
    default="text",
    show_default=True,
    help="The format of the report.",
)
@option(
    "-o",
    "--output-file",
    group=OUTPUT,
    type=parameters.path,
    metavar="FILE",
    help="Write the report to FILE in place of the terminal.",
)
@option("--quiet", "-q", group=OUTPUT, is_flag=True, help="Show no progress.")
@option(
    "--config",
    group=SETTINGS,
    type=parameters.text,
    metavar="FILE",
    help="Read the settings from this TOML file.",
)
@option("--isolated", group=SETTINGS, is_flag=True, help="Ignore every configuration file.")
@option(
    "--cache-dir",
    group=SETTINGS,
    type=parameters.path,
    metavar="FOLDER",
    help="The folder of the cache; by default SYNCSCAN_CACHE_DIR or the user's cache folder.",
)
@option("--no-cache", group=SETTINGS, is_flag=True, help="Neither read nor write the cache.")
def command(**values: object) -> int:
    """Prove that no call reachable from MODULE:FUNCTION synchronizes, or name the obstacles.

    PATHS are the files and folders of the project; the current folder by default. An unknown value
    may be on the GPU, and a call that cannot be resolved is an obstacle with its text.
    """
    from syncscan.commands.prove_run import ProveOptions, run  # noqa: PLC0415 (`--help` imports no engine)

    return run(ProveOptions(**values))  # type: ignore[arg-type]  # click has made each of its type
