"""The command line: names the commands; each lives in a module of ``syncscan.commands``."""

from __future__ import annotations

import importlib
import io
import sys
import traceback
from typing import Any

import click

from syncscan import __version__
from syncscan.errors import EXIT_ERROR, EXIT_INTERRUPTED, InterruptError, SyncscanError

COMMANDS = {
    "check": "Find the lines that make the CPU wait for the GPU, without running them.",
    "explain": "Say what a rule means and what to write instead.",
    "rules": "List the rules.",
    "ops": "Show, measure or verify what each torch operation does to the host.",
    "template": "Print a sync-free component to paste, or how it differs from the form that waits.",
    "trace": "Run a command and report which of its lines made the CPU wait for the GPU.",
    "report": "Show a trace that `syncscan trace -o DIR` kept.",
}

_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())  # a group called alone, from click 8.2 on


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
    try:
        status = cli.main(prog_name="syncscan", standalone_mode=False)
        sys.stdout.flush()  # while an error still gets a line of ours
    except SyncscanError as error:
        click.echo(f"syncscan: {error}", err=True)
        sys.exit(error.exit_status)
    except _HELP as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        click.echo(f"syncscan: {error.format_message().rstrip('.')}{_where_to_look(error)}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        sys.stdout = io.StringIO()  # at its end Python would try again to write the rest
        if not isinstance(error, BrokenPipeError):  # a reader that left early wants no more
            click.echo(f"syncscan: {_reason(error)}", err=True)
        sys.exit(EXIT_ERROR)
    except (click.Abort, KeyboardInterrupt):
        click.echo("syncscan: interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except Exception:
        # Status 1, which Python would choose, means findings.
        traceback.print_exc(limit=-12)  # an endless recursion has thousands of lines
        click.echo("syncscan: this is a defect of syncscan; please report it with the lines above", err=True)
        sys.exit(EXIT_ERROR)
    sys.exit(status or 0)


def _where_to_look(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"; see `{context.command_path} --help`" if context is not None else ""


def _reason(error: OSError) -> str:
    """What the system refused, and for which file; without one it is the output: the disk may be full."""
    name = "the output" if error.filename is None else error.filename
    return f"{name}: {(error.strerror or str(error)).lower()}"
