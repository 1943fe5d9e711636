"""``syncscan rule``: every rule in one line each, or the page of one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from syncscan.commands import parameters
from syncscan.commands.interface import Command, old_option, option

if TYPE_CHECKING:
    from syncscan.rule import Rule


def _codes() -> Iterable[str]:
    from syncscan.rule import rule_book  # noqa: PLC0415 (for a shell that completes)

    return rule_book()


@click.command("rule", cls=Command)
@option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of the list.",
)
@old_option("--format", "--output-format", "output_format")
@click.argument("code", required=False, shell_complete=parameters.complete(_codes))
def command(output_format: str, code: str | None) -> None:
    """List the rules, or show the page of the rule CODE.

    CODE is a code such as SYN101 or a name such as item-read. The page says what the rule finds, when it stays
    silent, and what to write instead.
    """
    from syncscan.rule import rule_book  # noqa: PLC0415 (`--help` needs no rule)

    rules = rule_book()
    if output_format == "json":
        chosen = rules.values() if code is None else [find_rule(code)]
        click.echo(json.dumps({"version": 1, "rules": list(map(_as_json, chosen))}, indent=2))
    elif code is None:
        _list(list(rules.values()))
    else:
        _show(find_rule(code))


def find_rule(word: str) -> Rule:
    """Return the rule of a code or a name; ConfigError names the nearest one."""
    from syncscan.errors import ConfigError, suggestion  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.rule import rule_book  # noqa: PLC0415 (`--help` imports no engine)

    rules = rule_book()
    by_word = rules | {rule.name: rule for rule in rules.values()}
    rule = by_word.get(word.upper()) or by_word.get(word.lower())
    if rule is None:
        raise ConfigError(f"no rule {word!r}; {suggestion(word, by_word, '`syncscan rule` lists them')}")
    return rule


def _as_json(rule: Rule) -> dict[str, object]:
    from syncscan.report.address import rule_address  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.report.pages import GROUPS, fix_kind, rule_page  # noqa: PLC0415 (`--help` imports no engine)

    return {
        "code": rule.code,
        "name": rule.name,
        "group": GROUPS[rule.code[:4]],
        "summary": rule.summary,
        "instead": rule.instead,
        "fix": bool(fix_kind(rule)),
        "page": rule_page(rule),
        "url": rule_address(rule.code),
    }


def _list(rules: list[Rule]) -> None:
    from syncscan.report.pages import fix_kind  # noqa: PLC0415 (`--help` imports no engine)

    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        click.echo(f"{rule.code}  {rule.name:<{width}}  {rule.summary}{'  [fix]' if fix_kind(rule) else ''}")


def _show(rule: Rule) -> None:
    from syncscan.report.pages import rule_page  # noqa: PLC0415 (`--help` imports no engine)

    page = rule_page(rule)
    if sys.stdout.isatty():
        from rich.markdown import Markdown  # noqa: PLC0415 (`--help` imports no engine)

        from syncscan.report.console import Console  # noqa: PLC0415 (a pipe gets the Markdown as it is)

        Console().print(Markdown(page))
    else:
        click.echo(page, nl=False)
