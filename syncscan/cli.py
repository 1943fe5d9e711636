"""The command line: names the commands; each lives in a module of ``syncscan.commands``."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from syncscan import __version__
from syncscan.commands.exit_handling import flush_standard_streams, open_standard_streams, tell
from syncscan.commands.interface import renamed
from syncscan.errors import InterruptError

COMMANDS = {
    "check": "Find the lines that block the CPU until the GPU has finished.",
    "prove": "Prove that a function is free of synchronization, or name the obstacles.",
    "fix": "Run a command with each fix, and apply the verified fixes.",
    "trace": "Run a program and report which of its lines blocked; report and diff traces.",
    "facts": "Record facts of runs for the check, or merge them.",
    "rule": "List the rules, or show the page of one.",
    "recipe": "List, print or compare sync-free components to paste.",
    "ops": "Show, measure or verify how each torch operation synchronizes.",
    "server": "Show findings in an editor, as a language server.",
    "init": "Propose settings, a baseline and a CI job for a project.",
    "clean": "Remove the cache.",
}
# The subcommands of commands that also take arguments of their own, with the module of each.
SUBCOMMANDS: dict[tuple[str, ...], str] = {
    ("trace", "report"): "trace_report",
    ("trace", "diff"): "trace_diff",
}
# Old names, which work until version 1.1.
RENAMED = {
    "explain": ("rule",),
    "rules": ("rule",),
    "template": ("recipe",),
    "observe": ("facts", "record"),
    "report": ("trace", "report"),
    "diff": ("trace", "diff"),
}
_OLD = ("compare",)  # is an option of `check` now


@contextmanager
def _errors_of_ours() -> Iterator[None]:
    """Turn the errors that click would handle itself into errors for `tell`."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptError("interrupted") from None
    except BrokenPipeError:  # with its number, click would exit with status 1, which means findings
        raise BrokenPipeError from None


class CommandGroup(click.Group):
    """Imports a command at its call, so that each command starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the commands in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import ``syncscan.commands.NAME`` and return its ``command``."""
        return _command(cmd_name) if cmd_name in COMMANDS or cmd_name in _OLD else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by its name, an old name, or the two words of a subcommand."""
        if new := RENAMED.get(args[0]):
            if not ctx.resilient_parsing:
                renamed(f"syncscan {args[0]}", f"syncscan {' '.join(new)}")
            args = [*new, *args[1:]]
        if module := SUBCOMMANDS.get((args[0], *args[1:2])):
            return " ".join(args[:2]), _command(module), args[2:]
        return super().resolve_command(ctx, args)

    @_errors_of_ours()
    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        """Parse the command line, which may print help."""
        return super().make_context(*arguments, **settings)

    @_errors_of_ours()
    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _command(module: str) -> click.Command:
    command: click.Command = importlib.import_module(f"syncscan.commands.{module}").command
    return command


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="syncscan")
def cli() -> None:
    """Find where PyTorch programs block the CPU until the GPU has finished."""


def main() -> None:
    """Run the command line; the one place that prints an error and chooses the exit status."""
    open_standard_streams()
    try:
        status = cli.main(prog_name="syncscan", standalone_mode=False)
        sys.stdout.flush()  # while an error still gets a line of ours
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(tell(error))
    flush_standard_streams()
    gc.freeze()  # the interpreter would walk the graph of a large project once more at its end
    sys.exit(status or 0)
