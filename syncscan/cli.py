"""The command line: names the commands; each lives in a module of ``syncscan.commands``."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from syncscan import __version__
from syncscan.ending import flush_standard_streams, open_standard_streams, tell
from syncscan.errors import InterruptError

COMMANDS = {
    "check": "Find the lines that make the CPU wait for the GPU, without running them.",
    "fix": "Try fixes on a command, and apply those that hold.",
    "clean": "Remove the results that checks have kept.",
    "explain": "Say what a rule means and what to write instead.",
    "rules": "List the rules.",
    "ops": "Show, measure or verify what each torch operation does to the host.",
    "template": "Print a sync-free component to paste, or how it differs from the form that waits.",
    "trace": "Run a command and report which of its lines made the CPU wait for the GPU.",
    "server": "Show findings in an editor, as a language server.",
    "observe": "Run a command and keep where the values of its functions lived, for the check.",
    "facts": "Merge what runs of `syncscan observe` have kept.",
    "report": "Show a trace that `syncscan trace -o DIR` kept.",
    "compare": "Hold the findings of a check against traces: which waited, and what was missed.",
    "diff": "Compare two traces: what waits more, and what waits less.",
}


class CommandGroup(click.Group):
    """Imports a command when it is called, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The commands in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import ``syncscan.commands.NAME`` and return its ``command``."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"syncscan.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C is an error like others, so that it ends with one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptError("interrupted") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="syncscan")
def cli() -> None:
    """Find where PyTorch programs make the CPU wait for the GPU."""


def main() -> None:
    """Run the command line; the one place that prints an error and chooses the exit status."""
    open_standard_streams()
    try:
        status = cli.main(prog_name="syncscan", standalone_mode=False)
        sys.stdout.flush()  # while an error still gets a line of ours
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(tell(error))
    flush_standard_streams()
    sys.exit(status or 0)
