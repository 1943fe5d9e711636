"""The shape of a command: options in groups, subcommands beside arguments, and old names that work for one version."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from syncscan.commands.parameters import text

Function = TypeVar("Function", bound=Callable[..., Any])


class Option(click.Option):
    """An option that `--help` shows under the heading of its ``group``."""

    def __init__(self, *arguments: Any, group: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.group = group


class Command(click.Command):
    """A command whose help groups the options and lists the ``subcommands``, which the command line itself finds."""

    def __init__(
        self, *arguments: Any, subcommands: Mapping[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self.subcommands = dict(subcommands or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, then the subcommands."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        groups["Options"] = groups.pop("Options", [])  # the last, for the help option is in it
        if self.subcommands:
            groups["Commands"] = list(self.subcommands.items())
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def option(*names: str, group: str = "Options", **settings: Any) -> Callable[[Function], Function]:
    """Return the decorator of an option in a group."""
    return click.option(*names, cls=Option, group=group, **settings)


def observed_packages(group: str = "Options") -> Callable[[Function], Function]:
    """Return the decorator of the option that names packages whose functions facts are recorded of."""
    return option(
        "--package",
        "packages",
        group=group,
        type=text,
        multiple=True,
        metavar="NAME",
        help="Observe the functions of this package too, wherever it is installed; may be repeated.",
    )


def old_option(
    old: str, new: str, parameter: str, value: str | None = None, *, multiple: bool = False, **also: str
) -> Callable[[Function], Function]:
    """Return the decorator of a hidden option that sets ``parameter``, and reports the new name to users of the old.

    With a ``value`` the old option is a flag that stands for this value. The option sets what ``also`` names besides.
    """

    def take(context: click.Context, _option: click.Parameter, given: Any) -> None:
        if not given:
            return
        renamed(old, new)
        meant = given if value is None else value
        context.default_map = {**(context.default_map or {}), **also, parameter: meant}

    name = f"old_{old.strip('-').replace('-', '_')}"
    return click.option(
        old, name, is_flag=value is not None, multiple=multiple, hidden=True, expose_value=False, is_eager=True,
        callback=take,
    )  # fmt: skip


def renamed(old: str, new: str) -> None:
    """Say on stderr what an old name is called now; where stderr is full or gone, the command goes on."""
    with contextlib.suppress(OSError):
        click.echo(f"syncscan: `{old}` is now `{new}`; the old name works until version 1.1", err=True)
