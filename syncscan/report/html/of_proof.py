"""The certificate of an entry point as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from syncscan.check.prove.answer import Certificate, Group, NamedObstacle
from syncscan.report.html.page import Column, Excerpts, Page, make_row, make_total, write
from syncscan.report.proof_text import verdict


def render(certificate: Certificate, texts: Mapping[str, str], stream: TextIO) -> None:
    """Write the page; ``texts`` has the source of each file."""
    write(make_page(certificate, texts), stream)


def make_page(certificate: Certificate, texts: Mapping[str, str]) -> Page:
    """Return the page of a certificate."""
    lines = {path: text.split("\n") for path, text in texts.items()}
    excerpts, rows = Excerpts(), []
    for each in certificate.obstacles:
        finding = each.finding
        place = _place(each)
        excerpts.add(place, lines=lines.get(finding.path, []))
        cells = [
            each.group.value,
            finding.code,
            f"{finding.unit}:{finding.line}",
            finding.expression,
            finding.message,
        ]
        rows.append(make_row(cells, place, instead=each.fact, fix=None, evidence=_chain(each)))
    return Page(
        title=f"Is {certificate.entry_point} free of synchronization?",
        subtitle=verdict(certificate),
        totals=list(_totals(certificate)),
        columns=[
            Column("group", "status", facet=True, order=tuple(group.value for group in Group)),
            Column("code", "code", facet=True),
            Column("site", "place"),
            Column("expression", "expression"),
            Column("message", "text"),
        ],
        sort=None,
        rows=rows,
        remarks=[f"assuming that {each}" for each in certificate.assumptions],
        sources=excerpts.sources,
    )


def _place(each: NamedObstacle) -> dict[str, Any]:
    names = ("line", "column", "end_line", "end_column", "function", "expression")
    return {"path": each.finding.unit} | {name: getattr(each.finding, name) for name in names}


def _chain(each: NamedObstacle) -> Iterator[str]:
    if len(each.finding.call_chain) > 1:
        yield f"reached by {' -> '.join(each.finding.call_chain)}"


def _totals(certificate: Certificate) -> Iterator[dict[str, str]]:
    for group in Group:
        yield make_total(group.value, f"{certificate.count(group):,}")
    yield make_total("functions reached", f"{certificate.functions:,}")
