"""``syncscan check``: the options; `syncscan.commands.check_run` does what they ask for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, old_option, option
from syncscan.model import Severity, When
from syncscan.report.formats import FORMATS

EPILOG = """\b
Examples:
  syncscan check                             the current folder
  syncscan check src/ --select SYN1,SYN205   some rules only
  syncscan check src/ --unsafe-fixes --diff  what fixes would change
  syncscan check - --stdin-filename a/b.py   an editor's buffer

\b
Exit status: 0 no findings; 1 findings; 2 a wrong option or setting, or a
file that could not be analysed or fixed; 130 interrupted; 141 the reader of
the output left early."""

WHICH = "Which findings"
FIXES = "Fixes and suppressions"
CHANGES = "Baselines and changes"
OUTPUT = "Output"
RUNS = "Runs"
SETTINGS = "Settings and cache"


def _codes() -> Iterable[str]:
    from syncscan.rule import rule_book  # noqa: PLC0415 (for a shell that completes)

    return rule_book()


_complete_codes = parameters.complete(_codes)


@click.command(
    "check", cls=Command, epilog=EPILOG, short_help="Find the lines that block the CPU on the GPU."
)
@click.argument("paths", nargs=-1, type=parameters.source)
@option(
    "--select",
    group=WHICH,
    multiple=True,
    shell_complete=_complete_codes,
    metavar="CODES",
    help="Report only these codes or prefixes; sets aside all configured choices of codes.",
)
@option(
    "--ignore",
    group=WHICH,
    multiple=True,
    shell_complete=_complete_codes,
    metavar="CODES",
    help="Do not report these codes or prefixes.",
)
@option(
    "--extend-select",
    group=WHICH,
    multiple=True,
    shell_complete=_complete_codes,
    metavar="CODES",
    help="Report these codes or prefixes too.",
)
@option(
    "--min-confidence",
    group=WHICH,
    type=parameters.text,
    metavar="LEVEL",
    help="Report from this confidence on: assumed, inferred, observed or proved.",
)
@option(
    "--environment",
    group=WHICH,
    type=parameters.text,
    metavar="PATH",
    help="Read the packages that the project imports from this Python environment. Default: auto, the active one or .venv; none reads no packages.",
)
@option(
    "--when",
    group=WHICH,
    type=parameters.when,
    metavar="TIMES",
    help=f"Report only code that runs at these times: {', '.join(each.value for each in When)}, or all "
    "[default: step,unknown].",
)
@old_option("--hot-only", "--when step", "when", value="step")
@old_option("--all", "--when all", "when", value="all")
@option(
    "--exclude",
    group=WHICH,
    multiple=True,
    type=parameters.text,
    metavar="PATTERN",
    help="Leave out these files and folders too; a pattern as in a .gitignore, may be repeated.",
)
@option("--fix", group=FIXES, is_flag=True, help="Apply the fixes that never change a result.")
@option(
    "--unsafe-fixes", group=FIXES, is_flag=True, help="Apply also the fixes whose rule names a condition."
)
@option("--diff", group=FIXES, is_flag=True, help="Show what the fixes would change, and write nothing.")
@option(
    "--add-ignores",
    group=FIXES,
    is_flag=True,
    help="Write a comment that suppresses the finding at each line; needs --reason.",
)
@option(
    "--reason",
    group=FIXES,
    type=parameters.text,
    metavar="TEXT",
    help="Why the lines may block, for --add-ignores.",
)
@option(
    "--baseline",
    group=CHANGES,
    type=parameters.path,
    metavar="FILE",
    help="Do not report the findings of this baseline.",
)
@option(
    "--write-baseline",
    group=CHANGES,
    type=parameters.path,
    metavar="FILE",
    help="Write all findings to this baseline, and drop entries without a finding.",
)
@option(
    "--since",
    group=CHANGES,
    type=parameters.text,
    metavar="REV",
    help="Report only findings that changes since the common ancestor of HEAD and this git revision introduce.",
)
@option(
    "--facts",
    group=CHANGES,
    type=parameters.path,
    multiple=True,
    metavar="FILE",
    help="Use the facts that `syncscan facts record` wrote; may be repeated.",
)
@option(
    "--trace",
    "traces",
    group=CHANGES,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Compare the findings with a trace of `syncscan trace --lines -o DIR`; may be repeated.",
)
@option(
    "--output-format",
    group=OUTPUT,
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="The format of the report.",
)
@old_option("--format", "--output-format", "output_format")
@option(
    "-o",
    "--output-file",
    "outputs",
    group=OUTPUT,
    type=parameters.output,
    multiple=True,
    metavar="[FORMAT=]FILE",
    help="Write the report to FILE in place of the terminal, or in FORMAT besides; may be repeated.",
)
@old_option("--output", "--output-file", "outputs", multiple=True)
@option("--statistics", group=OUTPUT, is_flag=True, help="Count the findings of each rule, list none.")
@option("--quiet", "-q", group=OUTPUT, is_flag=True, help="Print findings and errors alone.")
@option(
    "--color",
    group=OUTPUT,
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the text; auto asks the terminal, NO_COLOR and FORCE_COLOR.",
)
@option(
    "--fail-on",
    group=OUTPUT,
    type=click.Choice([level.label for level in Severity]),
    default=Severity.NOTE.label,
    show_default=True,
    help="Exit with status 1 for findings from this severity on.",
)
@option("--exit-zero", group=OUTPUT, is_flag=True, help="Exit with status 0 even with findings.")
@option("--watch", group=RUNS, is_flag=True, help="Keep running, and check again whenever a file changes.")
@option(
    "--shard",
    group=RUNS,
    type=parameters.shard,
    metavar="I/N",
    help="Report on one of N shares of the files, such as 1/4; all shares together are the whole.",
)
@option(
    "--stdin-filename",
    group=RUNS,
    type=parameters.text,
    metavar="PATH",
    help="The path of the file that PATHS = - reads.",
)
@option(
    "--jobs",
    "-j",
    group=RUNS,
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Worker processes; 0 chooses.",
)
@option(
    "--config",
    group=SETTINGS,
    type=parameters.text,
    metavar="FILE",
    help="Read the settings from this TOML file.",
)
@option("--isolated", group=SETTINGS, is_flag=True, help="Ignore every configuration file.")
@option(
    "--show-settings", group=SETTINGS, is_flag=True, help="Show the settings that apply, and check nothing."
)
@option(
    "--cache-dir",
    group=SETTINGS,
    type=parameters.path,
    metavar="FOLDER",
    help="The folder of the cache; by default SYNCSCAN_CACHE_DIR or the user's cache folder.",
)
@option("--no-cache", group=SETTINGS, is_flag=True, help="Neither read nor write the cache.")
def command(**values: object) -> int:
    """Find the lines of PATHS that block the CPU until the GPU has finished.

    PATHS are files and folders, or - for standard input; the current folder by default. The check runs no code.
    It also reads the project around a file, which shows on which device the file's tensors live.
    """
    from syncscan.commands.check_options import CheckOptions  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.commands.check_run import run  # noqa: PLC0415 (`--help` imports no engine)

    return run(CheckOptions(**values))  # type: ignore[arg-type]  # click has made each of its type
