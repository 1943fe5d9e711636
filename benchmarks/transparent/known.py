"""The differences that are known, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

# (programs, aspect, lines that the trace adds or changes, why); all but the last are regular expressions.
KNOWN = [
    (
        "start .*|.* before torch.*",
        "state",
        r"\[.*'ImportWatch'.*\]",
        "a finder waits for the import of torch",
    ),
    (
        "start -S",
        "state",
        r"\['.*/trace/hook'.*\]",
        "no sitecustomize takes the folder of the hook off the path",
    ),
    (
        ".* faulthandler.*",
        "stderr",
        r"|Thread 0x.*|  <no Python frame>",
        "the thread that writes, which only a dump of all threads shows",
    ),
]


def reason(name: str, aspect: str, lines: Sequence[str]) -> str | None:
    """Return why a program may differ in an aspect by these lines of a diff; None where it may not."""
    added = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    for names, aspects, texts, why in KNOWN:
        matches = re.fullmatch(names, name) and re.fullmatch(aspects, aspect)
        if matches and added and all(re.fullmatch(texts, line) for line in added):
            return why
    return None
