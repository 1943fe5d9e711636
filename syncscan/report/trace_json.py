"""A trace as JSON, with the fields of the output contract."""

from __future__ import annotations

import json
from typing import Any, TextIO


def render(trace: dict[str, Any], stream: TextIO) -> None:
    """Write the trace as one object."""
    json.dump(trace, stream, indent=1)
    stream.write("\n")
