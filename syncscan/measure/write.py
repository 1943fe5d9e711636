"""Entries -> the text of ``ops.toml``, the same text for the same entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from syncscan.ops import Case, Condition, Form, Operation, Term, reads_number

HEADER = """\
# What each operation does to the host, by its full name. syncscan/ops/table.py explains the entries.
# Written by `syncscan ops measure`; what it ran is in syncscan/measure/cases.toml and torch's op_db.
"""
WIDTH = 100


def write_table(entries: Mapping[str, Operation], measured_on: Mapping[str, str]) -> str:
    """Return the whole table."""
    head = ["[measured_on]", *(f"{key} = {json.dumps(value)}" for key, value in measured_on.items())]
    return (
        "\n".join([HEADER, *head, *(f"\n{entry_text(entry)}" for _, entry in sorted(entries.items()))]) + "\n"
    )


def entry_text(entry: Operation) -> str:
    """Return the text of an entry in the table."""
    plain = Operation(entry.name)
    reads = [term.arg for case in entry.blocks for term in case.when if case == reads_number(term.arg)]
    reads = reads if len(reads) > 1 else []
    lines = [f"[{json.dumps(entry.name)}]"]
    lines += _names("args", entry.args, plain.args)
    lines += _cases(
        "blocks", [case for case in entry.blocks if not any(case == reads_number(a) for a in reads)]
    )
    lines += _names("reads", reads)
    lines += _cases("sometimes", entry.sometimes)
    for key in ("result", "dtype", "ndim", "count", "reduces"):
        if getattr(entry, key) != getattr(plain, key):
            lines.append(f"{key} = {json.dumps(getattr(entry, key))}")
    lines += _list("forms", [_form(form) for form in entry.forms])
    lines += _names("aten", entry.aten)
    lines += _names("shapes", entry.shapes)
    lines += _names("aliases", entry.aliases)
    if not entry.measured:
        lines.append("measured = false")
    return "\n".join(lines)


def _names(key: str, values: Sequence[str], usual: Sequence[str] = ()) -> list[str]:
    """Return the line of several names, unless the names are the usual names."""
    return [f"{key} = {json.dumps([*values])}"] if tuple(values) != tuple(usual) else []


def _cases(key: str, cases: Iterable[Case]) -> list[str]:
    return _list(key, [_case(case) for case in cases])


def _list(key: str, written: list[str]) -> list[str]:
    if len(written) < 2 and sum(map(len, written)) < WIDTH:
        return [f"{key} = [{written[0]}]"] if written else []
    return [f"{key} = [", *(f"  {case}," for case in written), "]"]


def _case(case: Case) -> str:
    parts = [f"as = {json.dumps(case.effect.value)}"]
    parts += [f"when = {json.dumps(condition_text(case.when))}"] if case.when else []
    parts += [f"unless = {json.dumps(condition_text(case.unless))}"] if case.unless else []
    return f"{{ {', '.join(parts)} }}"


def _form(form: Form) -> str:
    parts = [f"when = {json.dumps(condition_text(form.when))}"]
    parts += [f"{key} = {json.dumps(value)}" for key, value in form.fields]
    return f"{{ {', '.join(parts)} }}"


def condition_text(condition: Condition) -> str:
    """Return the text of a condition in the table, which `syncscan.ops.parse_condition` reads."""
    return " and ".join(_term(term) for term in condition)


def _term(term: Term) -> str:
    if term.test == "given":
        return f"{term.arg} {'not ' if term.negated else ''}given"
    if term.test == "bytes":
        return f"{term.arg} > {term.size} bytes"
    return f"{term.arg} is {'not ' if term.negated else ''}{term.kind}"
