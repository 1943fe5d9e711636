"""The page of a rule, from its module: for ``syncscan rule`` and for ``docs/rules/``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from syncscan.reference.templates import templates_for
from syncscan.rule import Example, Rule, suggestions_of

GROUPS = {
    "SYN0": "About syncscan itself",
    "SYN1": "Reading the device from the host",
    "SYN2": "Output whose shape depends on data",
    "SYN3": "Uploads that block",
    "SYN4": "Explicit synchronization",
    "SYN5": "Hidden synchronization",
    "SYN6": "Missing synchronization and drifting mirrors",
    "SYN7": "Contracts",
}


def rule_page(rule: Rule) -> str:
    """Return the page of a rule, in Markdown."""
    body = (sys.modules[type(rule).__module__].__doc__ or "").strip()
    parts = [f"# {rule.code}: {rule.name}", _sentence(rule.summary), body]
    parts += [
        f"**Suggestion:** {rule.instead}.",
        *_by_place(rule),
        *_examples(rule.examples),
        *_templates(rule.code),
    ]
    return "\n\n".join(parts) + "\n"


def _by_place(rule: Rule) -> Iterator[str]:
    """Yield the table of suggestions by site, the source of the rule's own suggestions."""
    rows = suggestions_of(rule.code)
    if rows:
        texts = [f"| {where} | {text} |" for where, text in rows]
        yield "| the line | write |\n|---|---|\n" + "\n".join(texts)


def index_page(rules: Iterable[Rule]) -> str:
    """Return the list of all rules, by group, in Markdown."""
    parts = ["# Rules", "A prefix of a code names a group: `--select SYN2`."]
    by_group: dict[str, list[Rule]] = {}
    for rule in rules:
        by_group.setdefault(rule.code[:4], []).append(rule)
    for group, members in by_group.items():
        rows = [f"| [{r.code}]({r.code}.md) | {r.name} | {r.summary} | {fix_kind(r)} |" for r in members]
        head = "| code | name | what it finds | fix |\n|---|---|---|---|\n"
        parts.append(f"## {group}xx: {GROUPS[group]}\n\n{head}" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def pages(rules: Iterable[Rule]) -> dict[str, str]:
    """Return every page of ``docs/rules/`` by its file name."""
    rules = list(rules)
    return {"index.md": index_page(rules)} | {f"{rule.code}.md": rule_page(rule) for rule in rules}


def fix_kind(rule: Rule) -> str:
    """Return "yes" where at least one form of what the rule finds is rewritten, else ""."""
    return "yes" if any(example.fixed for example in rule.examples) else ""


def _sentence(summary: str) -> str:
    return summary[0].upper() + summary[1:].rstrip(".") + "."


def _examples(examples: tuple[Example, ...]) -> Iterator[str]:
    if any(example.bad for example in examples):
        yield "## Blocks"
    for example in examples:
        if example.bad:
            yield _code(example.bad.replace("# expect: ", "# "))
        if example.fixed:
            yield "The fix makes of it:"
            yield _code(example.fixed)
    if any(example.good for example in examples):
        yield "## Does not block"
        yield from (_code(example.good) for example in examples if example.good)


def _templates(code: str) -> Iterator[str]:
    if templates := templates_for(code):
        yield "## Templates"
        yield "\n".join(f"- `syncscan recipe show {t.name}`: {t.summary}" for t in templates)


def _code(text: str) -> str:
    return f"```python\n{text.strip()}\n```"
