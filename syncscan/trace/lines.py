"""The lines and calls that ran, as a trace keeps them: by file, lines in ranges of the first and the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Ranges = dict[str, list[list[int]]]
Rows = dict[str, list[list[Any]]]


def ranges_by_file(lines: Mapping[str, Iterable[int]]) -> Ranges:
    """Return the lines of each file as ranges."""
    return {path: _coalesced([n, n] for n in sorted(numbers)) for path, numbers in sorted(lines.items())}


def merged(all_ranges: Iterable[Ranges | None]) -> Ranges | None:
    """Return the lines that ran in any of several traces; None if one trace has no lines."""
    known = list(all_ranges)
    return None if None in known else _joined(filter(None, known))


def ran(ranges: Iterable[Sequence[int]], first: int, last: int) -> bool:
    """Return whether any of the lines from a first to a last one did."""
    return any(start <= last and end >= first for start, end in ranges)


def joined_callees(several: Iterable[Rows]) -> Rows:
    """Return the names that each call had in any of several runs."""
    whole: dict[str, dict[tuple[int, ...], set[str]]] = {}
    for rows in several:
        for path, calls in rows.items():
            known = whole.setdefault(path, {})
            for *place, names in calls:
                known.setdefault(tuple(place), set()).update(names)
    return {
        path: [[*place, sorted(names)] for place, names in sorted(known.items())]
        for path, known in sorted(whole.items())
    }


def joined_callers(several: Iterable[Rows]) -> Rows:
    """Return what ran from where in any of several runs."""
    whole: dict[str, set[tuple[Any, ...]]] = {}
    for rows in several:
        for path, runs in rows.items():
            whole.setdefault(path, set()).update(map(tuple, runs))
    return {path: [list(run) for run in sorted(runs)] for path, runs in sorted(whole.items())}


def _joined(several: Iterable[Ranges]) -> Ranges:
    whole: Ranges = {}
    for ranges in several:
        for path, found in ranges.items():
            whole.setdefault(path, []).extend(found)
    return {path: _coalesced(sorted(found)) for path, found in sorted(whole.items())}


def _coalesced(ranges: Iterable[list[int]]) -> list[list[int]]:
    found: list[list[int]] = []
    for first, last in ranges:
        if found and first <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found
