"""Two traces held against each other: the places that are new, gone, worse or better, by step where there are steps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from syncscan.report.trace_rows import STEP, Row, Rows

NEW, GONE, WORSE, BETTER, SAME = "new", "gone", "worse", "better", "same"
FAILS = {NEW, WORSE}
STATUSES = (NEW, WORSE, GONE, BETTER, SAME)  # in the order of reports
# The steps of one run are alike: beyond so many, more steps reveal no more about the difference of runs.
_INDEPENDENT = 30
_ERRORS = 3  # standard errors: below that, a difference is noise
_CHANCE = 0.01  # below that, one trace does not lack the site of the other by chance


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity of a place, a step or a run: its mean, and the standard error of that."""

    mean: float
    error: float = 0.0

    def rises_to(self, other: Measure, threshold: float) -> bool:
        """Return whether the other is surely more than this one, by more than a share."""
        difference = other.mean - self.mean
        return (
            difference > _ERRORS * math.hypot(self.error, other.error) and difference > threshold * self.mean
        )


_NOTHING = Measure(0.0)


@dataclass(frozen=True)
class Side:
    """One site in one trace; all zero where the trace does not have the site."""

    row: Row | None
    waits: Measure = _NOTHING
    blocked_ns: Measure | None = None
    starved_ns: Measure | None = None
    chance: float = 0.0  # that the other trace lacks the site, if both runs reach the site equally often


@dataclass(frozen=True)
class SiteChange:
    """One place in both traces."""

    status: str
    base: Side
    head: Side

    @property
    def row(self) -> Row:
        """The place as HEAD has it, or else as BASE had it."""
        row = self.head.row or self.base.row
        assert row is not None
        return row


@dataclass(frozen=True)
class Comparison:
    """Two traces and what changed between them, what fails first; ``per`` is "step" or "run"."""

    base: Rows
    head: Rows
    per: str
    threshold: float
    changes: list[SiteChange]
    elsewhere: dict[str, int]  # places outside of steps, by status

    @property
    def fails(self) -> bool:
        """Return whether a place is new or worse."""
        return any(change.status in FAILS for change in self.changes)

    @property
    def end_remark(self) -> str:
        """The remark that the commands ended with different exit statuses; "" where they did not."""
        was, now = (rows.trace["exit_status"] for rows in (self.base, self.head))
        if was == now:
            return ""
        left_out = "better or gone" if now else "new or worse"
        return f"the exit statuses differ ({was} -> {now}), so no site counts as {left_out}; trace a run without a failure"

    def count(self, status: str) -> int:
        """Return how many places have a status."""
        return sum(change.status == status for change in self.changes)


def compare(base: dict[str, Any], head: dict[str, Any], threshold: float) -> Comparison:
    """Compare two traces; a difference counts beyond noise and beyond ``threshold``, a share of the base."""
    before, after = Rows(base), Rows(head)
    per = "step" if before.steady and after.steady else "run"
    timed = before.timed and after.timed
    unsure = _unsure(base["exit_status"], head["exit_status"])
    changes, elsewhere = [], dict.fromkeys((NEW, GONE), 0)
    for old, new in _pairs(before.rows, after.rows):
        was = _side(old, per, timed, before.steady, after.steady)
        now = _side(new, per, timed, after.steady, before.steady)
        if per == "step" and not (was.waits.mean or now.waits.mean):
            status = NEW if old is None else GONE
            if (old is None or new is None) and status not in unsure:
                elsewhere[status] += 1
            continue
        status = _status(was, now, threshold)
        changes.append(SiteChange(SAME if status in unsure else status, was, now))
    changes.sort(key=lambda change: (STATUSES.index(change.status), -_size(change)))
    return Comparison(before, after, per, threshold, changes, elsewhere)


def _unsure(was: int, now: int) -> set[str]:
    """Return the statuses that a run may owe to its failure alone: a run that failed has reached less."""
    if was == now:
        return set()
    return {BETTER, GONE} if now else {NEW, WORSE}


def _size(change: SiteChange) -> float:
    blocked = [side.blocked_ns.mean for side in (change.base, change.head) if side.blocked_ns]
    return abs(blocked[0] - blocked[-1]) if blocked else abs(change.head.waits.mean - change.base.waits.mean)


def _status(base: Side, head: Side, threshold: float) -> str:
    """Compare the presence of the site first, then its synchronizations, blocked time and idle GPU time."""
    if not base.waits.mean and head.chance < _CHANCE:
        return NEW
    if not head.waits.mean and base.chance < _CHANCE:
        return GONE
    for name in ("waits", "blocked_ns", "starved_ns"):
        old, new = getattr(base, name), getattr(head, name)
        if old is None or new is None:
            continue
        if old.rises_to(new, threshold):
            return WORSE if old.mean or base.waits.mean else NEW
        if new.rises_to(old, threshold):
            return BETTER if new.mean or head.waits.mean else GONE
    return SAME


def _side(row: Row | None, per: str, timed: bool, steps: int, others: int) -> Side:
    """Return one side of a change, of a trace with so many steps; the other trace has ``others``."""
    zero = _NOTHING if timed else None
    if row is None:
        return Side(None, blocked_ns=zero)
    if per == "run":
        waits = row.all
        starved = None if waits.starved_ns is None else Measure(waits.starved_ns)
        return Side(row, Measure(waits.count), Measure(waits.blocked_ns) if timed else None, starved)
    sites = [site for site in row.sites if site["per_step"]]
    return Side(
        row,
        _per_step(sites, "syncs", steps),
        _per_step(sites, "blocked_ns", steps) if timed else None,
        None if row.step_starved_ns is None else Measure(row.step_starved_ns),
        _chance(sites, steps / (steps + others)),
    )


def _chance(sites: Iterable[dict[str, Any]], share: float) -> float:
    """Return the chance that all steps with these sites are in one trace, which has a share of all steps."""
    if all("simulated" in site["detectors"] for site in sites):
        return 0.0  # the simulation counts what the program does, and no GPU adds to that
    return math.pow(share, max(map(_blocking_steps, sites)))


def _blocking_steps(site: dict[str, Any]) -> float:
    """Return the number of steps that have the site, or fewer if some have more synchronizations than others."""
    mean: float = site["per_step"]
    deviation: float = (site["step_spread"] or {}).get("syncs", 0.0)
    count: int = site["count"]
    return count / (mean + deviation * deviation / mean)


def _per_step(sites: Iterable[dict[str, Any]], name: str, steps: int) -> Measure:
    """Return the sum of the sites of one place per step of the trace; their coincidence is the worst case for the error.

    The processes that have a site decide how surely it has changed. The others differ from them in every run.
    """
    mean = error = 0.0
    for site in sites:
        own = max(round(site["count"] / site["per_step"]), 1)
        whole = site["count"] if name == "syncs" else site["blocked_ns"]["total"]
        deviation = (site["step_spread"] or {}).get(name, 0.0)
        mean += whole / steps
        error += deviation / math.sqrt(min(own, _INDEPENDENT)) * own / steps
    return Measure(mean, error)


def _pairs(base: Iterable[Row], head: Iterable[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Pair the rows of the same place: lines may have shifted, and the files may lie in other folders.

    Among rows of one function and expression, the rows with the most similar paths pair first.
    """
    groups: dict[tuple[str, ...], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((base, head)):
        for row in rows:
            name = PurePath(row["path"]).name
            groups[name, row["function"], row["expression"] or str(row["line"])][side].append(row)
    for old, new in groups.values():
        scores = sorted(
            ((_likeness(o, n), i, j) for i, o in enumerate(old) for j, n in enumerate(new)), reverse=True
        )
        left, right = dict(enumerate(old)), dict(enumerate(new))
        for _, i, j in scores:
            if i in left and j in right:
                yield left.pop(i), right.pop(j)
        yield from ((row, None) for row in left.values())
        yield from ((None, row) for row in right.values())


def _likeness(one: Row, other: Row) -> tuple[int, int, int]:
    """Return the number of folders that two paths share from their end, and how near lines and columns are."""
    common = 0
    for a, b in zip(
        reversed(PurePath(one["path"]).parts), reversed(PurePath(other["path"]).parts), strict=False
    ):
        if a != b:
            break
        common += 1
    return common, -abs(one["line"] - other["line"]), -abs(one["column"] - other["column"])


def step_totals(rows: Rows) -> tuple[float, float]:
    """Return synchronizations and blocked nanoseconds per steady step."""
    waits = rows.waits(STEP)
    return waits.count / rows.steady, waits.blocked_ns / rows.steady
