"""A certificate as one JSON object. Its ``version`` changes when a reader could break."""

from __future__ import annotations

import json
from typing import Any, TextIO

from syncscan import __version__
from syncscan.check.prove.answer import Certificate, Group
from syncscan.report.json_report import finding_data

FORMAT_VERSION = 1
_EMPTY = '"obstacles": []'


def render(certificate: Certificate, stream: TextIO) -> None:
    """Write the object, each obstacle on a line, and a line end."""
    data = as_data(certificate)
    obstacles, data["obstacles"] = data["obstacles"], []
    before, empty, after = json.dumps(data, indent=2).partition(_EMPTY)
    rows = ",\n    ".join(map(json.dumps, obstacles))  # which C does, unlike what is indented
    stream.write(f"{before}{empty[:-1]}\n    {rows}\n  ]{after}\n" if rows else f"{before}{empty}{after}\n")


def as_data(certificate: Certificate) -> dict[str, Any]:
    """Return the object as plain data."""
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "syncscan", "version": __version__},
        "entry_point": certificate.entry_point,
        "proved": certificate.is_proved,
        "functions": certificate.functions,
        "counts": {group.value: certificate.count(group) for group in Group},
        "obstacles": [
            {"group": each.group.value, "fact": each.fact, **finding_data(each.finding)}
            for each in certificate.obstacles
        ],
        "assumptions": list(certificate.assumptions),
        "failed": [
            {"path": each.path, "line": each.line, "message": each.message} for each in certificate.failures
        ],
        "baseline": {"known": certificate.known, "gone": certificate.gone},
    }
