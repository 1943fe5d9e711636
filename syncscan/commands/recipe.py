"""``syncscan recipe``: the sync-free components, to read and to paste."""

from __future__ import annotations

import click

from syncscan.commands import parameters
from syncscan.reference.templates import difference, find_template, paste, templates

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.group(name="recipe")
def command() -> None:
    """Print a sync-free component to paste, or its difference from the blocking form."""


@command.command(name="list", short_help="Name the components.")
def list_templates() -> None:
    """List the components with their reports and rules."""
    width = max(map(len, templates()))
    for template in templates().values():
        codes = " ".join(template.codes)
        click.echo(f"{template.name:<{width}}  {template.report}  {codes:<15}  {template.summary}")


@command.command(short_help="Print a component with all that it needs.")
@click.argument("name", shell_complete=parameters.complete(templates))
def show(name: str) -> None:
    """Print component NAME and all definitions that the component needs."""
    click.echo(paste(find_template(name)), nl=False)


@command.command(short_help="Print the difference of a component from its blocking form.")
@click.argument("name", shell_complete=parameters.complete(templates))
def diff(name: str) -> None:
    """Print the difference between the blocking and the sync-free form of NAME."""
    for line in difference(find_template(name)).splitlines():
        click.echo(click.style(line, fg=_COLORS.get(line[:1])))
