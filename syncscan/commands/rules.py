"""``syncscan rules``: every rule in one line each."""

from __future__ import annotations

import click

from syncscan.report.pages import fix_kind
from syncscan.rule import rule_book


@click.command("rules")
def command() -> None:
    """List the rules: code, name, what it finds, and whether some forms of it are fixed."""
    rules = list(rule_book().values())
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.summary}{'  [fix]' if fix_kind(rule) else ''}")
