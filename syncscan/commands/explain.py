"""``syncscan explain``: the page of a rule."""

from __future__ import annotations

import sys

import click

from syncscan.commands import parameters
from syncscan.errors import ConfigError, suggestion
from syncscan.report.pages import rule_page
from syncscan.rule import Rule, rule_book


@click.command("explain")
@click.argument("code", shell_complete=parameters.complete(rule_book))
def command(code: str) -> None:
    """Say what the rule CODE means, when it stays silent, and what to write instead.

    CODE is a code such as SYN101 or a name such as item-read.
    """
    page = rule_page(find_rule(code))
    if sys.stdout.isatty():
        from rich.markdown import Markdown  # noqa: PLC0415

        from syncscan.report.console import Console  # noqa: PLC0415 (a pipe gets the Markdown as it is)

        Console().print(Markdown(page))
    else:
        click.echo(page, nl=False)


def find_rule(word: str) -> Rule:
    """The rule of a code or a name; ConfigError names the nearest one."""
    rules = rule_book()
    by_word = rules | {rule.name: rule for rule in rules.values()}
    rule = by_word.get(word.upper()) or by_word.get(word.lower())
    if rule is None:
        raise ConfigError(f"no rule {word!r}; {suggestion(word, by_word, '`syncscan rules` lists them')}")
    return rule
