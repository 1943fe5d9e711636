"""Text of others (source, names, paths, traces) made safe to print: nothing in it commands the terminal."""

from __future__ import annotations

import re
from typing import Any

# Characters that a terminal obeys or that deceive a reader: the controls C0, DEL and C1 (with ESC and CSI), line
# separators, the embeddings, overrides and isolates that reorder text, and halves of characters.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_LINES = re.compile(rf"(?![\t\n]|\r\n){_UNSAFE.pattern}")

_LONGEST = 1000


def safe_line(text: str) -> str:
    r"""Return the text on one line, with escapes as Python writes them (``\x1b``, ``\n``) for what is unsafe."""
    return _UNSAFE.sub(_escaped, text)


def line_start(path: str) -> str:
    """Return a path at the start of a line, where ``::`` would be a command to GitHub."""
    return f"./{safe_line(path)}" if path.lstrip().startswith("::") else safe_line(path)


def safe_lines(text: str) -> str:
    """Return the same for text of several lines: tabs and line ends stay."""
    return _UNSAFE_IN_LINES.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def safe_values(data: Any) -> Any:
    """Return plain data whose texts are safe lines of limited length."""
    if isinstance(data, str):
        return safe_line(data if len(data) <= _LONGEST else f"{data[:_LONGEST]}...")
    if isinstance(data, list):
        return [safe_values(item) for item in data]
    if isinstance(data, dict):
        return {safe_values(name): safe_values(item) for name, item in data.items()}
    return data
