"""``syncscan fix``: run a command with each fix, and apply the verified fixes."""

from __future__ import annotations

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, option
from syncscan.errors import ConfigError

EPILOG = """\b
Examples:
  syncscan fix src/ --verify -- pytest tests/       on a simulated GPU
  syncscan fix src/ --verify --gpu -- python train.py
  syncscan fix src/ --verify --diff -- pytest -x    show, and write nothing

\b
Exit status: 0 the verified fixes were applied; 2 a wrong option or setting,
a file that could not be analysed or written, or a command that could not be
traced."""
_COMMAND = "syncscan.fix.command"


class _WithCommand(Command):
    """A command that takes the words behind ``--`` before click drops that sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before ``--``."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Name the command in the line of usage."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND"]


@click.command("fix", cls=_WithCommand, epilog=EPILOG)
@click.argument("paths", nargs=-1, type=parameters.source)
@option("--verify", is_flag=True, help="Run COMMAND with each fix (required).")
@option("--gpu", is_flag=True, help="Run COMMAND on the GPU of this machine, and not on a simulated one.")
@option("--step", default="", metavar="PKG.MOD:CLASS.METHOD", help="The function whose calls are the steps.")
@option("--diff", is_flag=True, help="Show what the verified fixes change, and write nothing.")
@option(
    "--all", "all_", is_flag=True, help="Try also fixes of code that runs once, or in tests and examples."
)
@option("--restart", is_flag=True, help="Forget the runs of an earlier search for the same command.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    verify: bool,
    gpu: bool,
    step: str,
    diff: bool,
    all_: bool,
    restart: bool,
) -> int:
    """Apply the fixes in PATHS that a run of COMMAND verifies.

    COMMAND runs in a copy of the current folder, once without fixes and then with them. The exit status and
    the outcome of each pytest test must stay the same. The line of a verified fix synchronizes less often.
    Files are written when the search is over.
    """
    words = ctx.meta[_COMMAND]
    if not verify:
        raise ConfigError(
            "fix tries what it applies: give --verify; `syncscan check --fix` applies safe fixes untried"
        )
    if not words:
        raise ConfigError("--verify needs a command behind --, such as `-- pytest tests/`")
    from syncscan.commands.fix_run import run  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.verify.run import TracedCommand  # noqa: PLC0415 (`--help` imports no engine)

    return run(paths, TracedCommand(words, gpu, step), diff=diff, all_=all_, restart=restart)
