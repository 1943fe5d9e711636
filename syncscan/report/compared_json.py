"""Findings held against what ran, as JSON. Its ``version`` changes when a reader could break."""

from __future__ import annotations

import json
from typing import Any, TextIO

from syncscan import __version__
from syncscan.report.compared import Compared, Score

FORMAT_VERSION = 1


def render(compared: Compared, stream: TextIO) -> None:
    """Write one object."""
    json.dump(as_data(compared), stream, indent=1)
    stream.write("\n")


def as_data(compared: Compared) -> dict[str, Any]:
    """Return the object as plain data; times are nanoseconds."""
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "syncscan", "version": __version__},
        "knows_lines": compared.knows_lines,
        "findings": compared.findings,
        "waits": compared.waits,
        "outside": compared.outside,
        "whole": _score(compared.whole),
        "by_rule": {name: _score(score) for name, score in compared.by_rule.items()},
        "by_folder": {name: _score(score) for name, score in compared.by_folder.items()},
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "confirmed": score.confirmed,
        "ran": score.ran,
        "predicted": score.predicted,
        "waits": score.waits,
        "precision": score.precision,
        "recall": score.recall,
    }
