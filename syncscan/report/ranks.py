"""The ranks that are blocked most, and the ranks that block others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from syncscan.report.trace_rows import Row, Rows, duration, short_path
from syncscan.trace.sites import spot

_OUTLYING = 1.5  # times the median: from here on the report names a rank
_MOST_PLACES = 3
_LEAST_NS = 1e6  # a smaller difference does not matter


def rank_remarks(rows: Rows, folder: Path) -> Iterator[str]:
    """Yield the remarks on ranks, where there are several and their synchronizations are timed."""
    blocked: Counter[str] = Counter()
    for row in rows.rows:
        blocked.update({rank: ns for rank, ns in row.merged("rank_ns").items() if rank.isdigit()})
    if len(blocked) < 2 or not rows.timed:
        return
    (rank, most), middle = blocked.most_common(1)[0], median(blocked.values())
    if most >= _LEAST_NS:
        yield f"of {len(blocked)} ranks, rank {rank} is blocked longest: {duration(most)}, the median {duration(middle)}"
    waited_for = [(found, row) for row in rows.rows if (found := slowest(row)) is not None]
    for (rank, own, others), row in waited_for[:_MOST_PLACES]:
        yield (
            f"rank {rank} holds the others up at {spot(short_path(row['path'], folder), row['line'])}:"
            f" it is blocked there for {duration(own)}, the others for {duration(others)} each (median)"
        )


def slowest(row: Row) -> tuple[str, float, float] | None:
    """Return the rank that delays the others at a place: (rank, its blocked time, the median of the others), or None.

    Ranks that meet at one place as often leave it together. The one that comes last is blocked the shortest.
    """
    counts = {rank: count for rank, count in row.merged("ranks").items() if rank.isdigit()}
    blocked = row.merged("rank_ns")
    if len(counts) < 2 or len(set(counts.values())) > 1:
        return None
    rank = min(counts, key=lambda rank: blocked[rank])
    others = median(blocked[other] for other in counts if other != rank)
    if others - blocked[rank] < _LEAST_NS or others < _OUTLYING * blocked[rank]:
        return None
    return rank, blocked[rank], others
