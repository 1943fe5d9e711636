"""A trace as JSON lines: one object for the trace, then one for each site, with the fields of the output contract."""

from __future__ import annotations

import json
from typing import Any, TextIO


def render(trace: dict[str, Any], stream: TextIO) -> None:
    """Write a line for the trace and a line for each of its sites; ``kind`` says which."""
    whole = {name: value for name, value in trace.items() if name not in ("sites", "timeline")}
    stream.writelines(
        json.dumps(line, separators=(",", ":")) + "\n"
        for line in ({"kind": "trace"} | whole, *({"kind": "site"} | site for site in trace["sites"]))
    )
