"""The lines of libraries that ran and that synchronized under the simulated GPU, as data by place.

``data/HALF/LIBRARY.json.xz`` holds a library. A hash of its name decides the half: *development*, whose places guide the
work on the check, or *validation*, of which totals by rule alone are told. The files are compressed, and only `places`
names a line: it refuses a library of the validation half.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
DEVELOPMENT, VALIDATION = HALVES = "development", "validation"
NO_RULE = "no rule"
HIDDEN_WAIT = "SYN501"

Finding = dict[str, Any]


def half_of(library: str) -> str:
    """Return the half of a library, by its name alone."""
    return HALVES[hashlib.sha256(library.encode()).digest()[0] % 2]


@dataclass(frozen=True)
class Truth:
    """The lines of one library by file: those that ran, and the rule of those that synchronized."""

    library: str
    release: str
    package: str
    ran: dict[str, set[int]]
    synced: dict[str, dict[int, str]]

    @property
    def half(self) -> str:
        """Return the half of the library."""
        return half_of(self.library)

    def write(self, data: Path = DATA) -> Path:
        """Write the file of the library and return the path."""
        by_rule: dict[str, dict[str, set[int]]] = {}
        for path, lines in self.synced.items():
            for line, rule in lines.items():
                by_rule.setdefault(path, {}).setdefault(rule, set()).add(line)
        plain = {
            "release": self.release,
            "package": self.package,
            "ran": {path: ranges(self.ran[path]) for path in sorted(self.ran)},
            "synced": {
                path: {rule: ranges(lines) for rule, lines in sorted(rules.items())}
                for path, rules in sorted(by_rule.items())
            },
        }
        file = data / self.half / f"{self.library}.json.xz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lzma.compress(json.dumps(plain, separators=(",", ":")).encode(), preset=9))
        return file


def read(library: str, data: Path = DATA) -> Truth:
    """Return the truth of a library."""
    packed = (data / half_of(library) / f"{library}.json.xz").read_bytes()
    plain = json.loads(lzma.decompress(packed))
    return Truth(
        library,
        plain["release"],
        plain["package"],
        {path: set(numbers(lines)) for path, lines in plain["ran"].items()},
        {
            path: {line: rule for rule, lines in rules.items() for line in numbers(lines)}
            for path, rules in plain["synced"].items()
        },
    )


def libraries(data: Path = DATA) -> list[str]:
    """Return the names of the libraries whose truth is stored."""
    return sorted(path.name.removesuffix(".json.xz") for path in data.glob("*/*.json.xz"))


def ranges(lines: Collection[int]) -> str:
    """Return numbers as text such as ``1-3 7``, each relative to the end of the range before it."""
    parts: list[tuple[int, int]] = []
    for line in sorted(lines):
        if parts and parts[-1][1] == line - 1:
            parts[-1] = (parts[-1][0], line)
        else:
            parts.append((line, line))
    before, words = 0, []
    for first, last in parts:
        words.append(f"{first - before}" + (f"-{last - first}" if last > first else ""))
        before = last
    return " ".join(words)


def numbers(text: str) -> Iterator[int]:
    """Return the numbers that `ranges` wrote."""
    before = 0
    for word in text.split():
        gap, _, length = word.partition("-")
        first = before + int(gap)
        before = first + int(length or 0)
        yield from range(first, before + 1)


# findings held against it


def is_sure(finding: Finding) -> bool:
    """Return whether a finding has the default confidence."""
    return bool(finding["confidence"] != "assumed")


# A suite sets up much once, and that is hidden by default: what the report shows is a level of its own.
LEVELS: dict[str, Callable[[Finding], bool]] = {
    "default": is_sure,
    "assumed": lambda _: True,
    "shown": lambda finding: is_sure(finding) and finding["when"] not in {"once", "test"},
}


def lines_of(finding: Finding) -> range:
    """Return the lines of a finding."""
    return range(finding["line"], finding["end_line"] + 1)


def totals(truth: Truth, findings: list[Finding]) -> dict[str, Counter[str]]:
    """Return by rule how many lines synchronized and were found, and how many findings ran and were true, at each level."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for lines in truth.synced.values():
        for rule in lines.values():
            counts[rule]["known"] += 1
    for level, is_told in LEVELS.items():
        shown = [finding for finding in findings if is_told(finding)]
        found = {(finding["path"], line) for finding in shown for line in lines_of(finding)}
        for path, lines in truth.synced.items():
            for line, rule in lines.items():
                counts[rule][f"found {level}"] += (path, line) in found
        for finding in shown:
            if _is_in(truth.ran, finding):
                counts[finding["code"]][f"ran {level}"] += 1
                counts[finding["code"]][f"true {level}"] += _is_true(truth, finding)
    return counts


def places(
    truth: Truth, findings: list[Finding], level: str
) -> tuple[list[tuple[str, int, str]], list[Finding]]:
    """Return the lines of a development library that no finding holds, and the findings on lines that only ran."""
    if truth.half == VALIDATION:
        raise PermissionError(f"{truth.library} is of the validation half: its places are told to nobody")
    shown = [finding for finding in findings if LEVELS[level](finding)]
    found = {(finding["path"], line) for finding in shown for line in lines_of(finding)}
    missed = [
        (path, line, rule)
        for path, lines in sorted(truth.synced.items())
        for line, rule in sorted(lines.items())
        if (path, line) not in found
    ]
    ran = [finding for finding in shown if _is_in(truth.ran, finding)]
    return missed, [finding for finding in ran if not _is_true(truth, finding)]


def _is_true(truth: Truth, finding: Finding) -> bool:
    """Return whether a line of a finding synchronized; for the read of a property, the line in the body that the finding names.

    The truth knows the innermost line alone.
    """
    if finding["code"] == HIDDEN_WAIT and finding["evidence"]:
        body = finding["evidence"][0]
        return body["line"] in truth.synced.get(body["path"], ())
    return _is_in(truth.synced, finding)


def _is_in(files: dict[str, Any], finding: Finding) -> bool:
    lines = files.get(finding["path"], ())
    return any(line in lines for line in lines_of(finding))
