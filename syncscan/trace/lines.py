"""The lines that ran, as a trace keeps them: by file, in ranges of the first and the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Ranges = dict[str, list[list[int]]]


def ranges_by_file(files: Iterable[Mapping[str, Iterable[int]]]) -> Ranges:
    """Return what ran in any of several processes."""
    return _joined({path: [[n, n] for n in numbers] for path, numbers in lines.items()} for lines in files)


def merged(all_ranges: Iterable[Ranges | None]) -> Ranges | None:
    """Return what ran in any of several traces; None where one of them did not record it."""
    known = list(all_ranges)
    return None if None in known else _joined(filter(None, known))


def ran(ranges: Iterable[Sequence[int]], first: int, last: int) -> bool:
    """Return whether any of the lines from a first to a last one did."""
    return any(start <= last and end >= first for start, end in ranges)


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
