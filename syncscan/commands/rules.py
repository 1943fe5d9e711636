"""``syncscan rules``: every rule in one line each, or as JSON."""

from __future__ import annotations

import json

import click

from syncscan.address import rule_address
from syncscan.report.pages import GROUPS, fix_kind, rule_page
from syncscan.rule import rule_book


@click.command("rules")
@click.option(
    "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(output_format: str) -> None:
    """List the rules: code, name, what it finds, and whether some forms of it are fixed."""
    rules = list(rule_book().values())
    if output_format == "json":
        data = [
            {
                "code": rule.code,
                "name": rule.name,
                "group": GROUPS[rule.code[:4]],
                "summary": rule.summary,
                "instead": rule.instead,
                "fix": bool(fix_kind(rule)),
                "page": rule_page(rule),
                "url": rule_address(rule.code),
            }
            for rule in rules
        ]
        click.echo(json.dumps({"version": 1, "rules": data}, indent=2))
        return
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.summary}{'  [fix]' if fix_kind(rule) else ''}")
