"""A trace as rows: one for each place in the source, whatever the phases of its synchronizations."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from syncscan.trace.sites import spot
from syncscan.words import plural

Trace = dict[str, Any]
STEP = "step"  # the phase of synchronizations in a steady step
PHASES = {
    "warmup": "warm-up",
    "capture": "graph capture",
    "compile": "compiling",
    "outside": "start-up and other phases",
}
_PACKAGES = re.compile(r".*/(?:site|dist)-packages/")


@dataclass(slots=True)
class SyncTotals:
    """The number of synchronizations, their blocked time, and the idle GPU time after them, if measured."""

    count: int = 0
    blocked_ns: float = 0
    starved_ns: float | None = None

    def add(self, other: SyncTotals) -> None:
        """Add the totals of another row."""
        self.count += other.count
        self.blocked_ns += other.blocked_ns
        if other.starved_ns is not None:
            self.starved_ns = (self.starved_ns or 0) + other.starved_ns

    def over(self, number: float) -> SyncTotals:
        """Return the share of one of so many."""
        return SyncTotals(
            self.count,
            self.blocked_ns / number,
            None if self.starved_ns is None else self.starved_ns / number,
        )

    @property
    def cost(self) -> tuple[float, float, int]:
        """By which the costliest come first."""
        return (self.starved_ns or 0, self.blocked_ns, self.count)


NONE = SyncTotals()


def total(parts: Iterable[SyncTotals]) -> SyncTotals:
    """Return all of them together."""
    whole = SyncTotals()
    for part in parts:
        whole.add(part)
    return whole


@dataclass
class Row:
    """One place that synchronized: its sites in the trace, and its synchronizations by phase."""

    sites: list[dict[str, Any]] = field(default_factory=list)
    phases: dict[str, SyncTotals] = field(default_factory=dict)
    steps: int = 0  # the steady steps of all processes of the trace, so that rows add up
    has_twin: bool = False  # another row of the line has the same expression, such as a read and a write

    def add(self, site: dict[str, Any]) -> None:
        """Add a site of this place."""
        self.sites.append(site)
        starved = site.get("starved_ns")
        waits = SyncTotals(site["count"], site["blocked_ns"]["total"], starved and starved["total"])
        self.phases.setdefault(phase_of(site), SyncTotals()).add(waits)

    def __getitem__(self, name: str) -> Any:
        """Return a field that all sites of the row share: the place, the code, the advice."""
        return self.sites[0][name]

    @property
    def all(self) -> SyncTotals:
        """The totals of all its synchronizations."""
        return total(self.phases.values())

    @property
    def per_step(self) -> float:
        """Return the synchronizations per steady step of the trace."""
        return self.phases.get(STEP, NONE).count / max(self.steps, 1)

    @property
    def step_blocked_ns(self) -> float:
        """Return the blocked time per steady step of the trace."""
        return self.phases.get(STEP, NONE).over(max(self.steps, 1)).blocked_ns

    @property
    def step_starved_ns(self) -> float | None:
        """Return the idle GPU time per steady step of the trace, if measured."""
        return self.phases.get(STEP, NONE).over(max(self.steps, 1)).starved_ns

    @property
    def timed(self) -> bool:
        """Return whether a detector measured the blocked time."""
        return any("cupti" in site["detectors"] for site in self.sites)

    def merged(self, name: str) -> Counter[str]:
        """Return a field that maps names to numbers, over all its sites."""
        whole: Counter[str] = Counter()
        for site in self.sites:
            whole.update(site[name])
        return whole

    def each(self, name: str) -> list[Any]:
        """Return the different values of a field."""
        return list(dict.fromkeys(site[name] for site in self.sites if site[name]))


def phase_of(site: dict[str, Any]) -> str:
    """Return the phase in which a row counts a site: `STEP`, or one of `PHASES`."""
    if site["phase"] == "steady":
        return STEP if site["in_step"] else "outside"
    return str(site["phase"])


def place_of(site: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key that sites of one row share."""
    return (
        *(site[name] for name in ("path", "line", "column", "end_line", "end_column")),
        *(site[name] for name in ("function", "expression", "allowed")),
    )


def _mark_twins(rows: Iterable[Row]) -> None:
    alike: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["path"], row["line"], row["function"], row["expression"]].append(row)
    for twins in alike.values():
        for row in twins:
            row.has_twin = len({twin["column"] for twin in twins}) > 1


class Rows:
    """The rows of a trace, the costliest first, and their totals."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        found: dict[tuple[Any, ...], Row] = {}
        for site in trace["sites"]:
            found.setdefault(place_of(site), Row(steps=self.steady)).add(site)
        _mark_twins(found.values())
        self.allowed = [row for row in found.values() if row["allowed"] is not None]
        self.rows = [row for row in found.values() if row["allowed"] is None]
        self.rows.sort(key=lambda row: row.all.cost, reverse=True)

    @cached_property
    def traced(self) -> list[dict[str, Any]]:
        """The processes that used a GPU."""
        return [p for p in self.trace["processes"] if p.get("detectors") and p["wall_ns"]]

    @property
    def wall_ns(self) -> int:
        """The time of those processes together, from the moment that each started CUDA."""
        return sum(process["wall_ns"] for process in self.traced)

    @property
    def simulated(self) -> bool:
        """Return whether the GPU was simulated, so that nothing is timed."""
        return any("simulated" in process["detectors"] for process in self.traced)

    @property
    def timed(self) -> bool:
        """Return whether something measured blocked time."""
        return any(row.timed for row in self.rows)

    @property
    def starved(self) -> bool:
        """Return whether idle GPU time was measured."""
        return any(row.all.starved_ns is not None for row in self.rows)

    @property
    def steady(self) -> int:
        """Return the number of steady steps."""
        steps = self.trace["steps"]
        return steps["steady"] if steps else 0

    @cached_property
    def of_steps(self) -> list[Row]:
        """Return the rows of steady steps, the costliest first."""
        return self.of_phases(STEP)

    def of_phases(self, *phases: str) -> list[Row]:
        """Return the rows of these phases, the costliest first."""
        rows = [row for row in self.rows if not row.phases.keys().isdisjoint(phases)]
        return sorted(rows, key=lambda row: total(row.phases.get(p, NONE) for p in phases).cost, reverse=True)

    def waits(self, *phases: str) -> SyncTotals:
        """Return the totals of these phases."""
        return total(row.phases.get(phase, NONE) for row in self.rows for phase in phases)


def spot_of(row: Row, folder: Path) -> str:
    """Return ``path:line``, with the column where only the column separates two rows."""
    place = spot(short_path(row["path"], folder), row["line"])
    return f"{place}:{row['column']}" if row.has_twin else place


def short_path(path: str, folder: Path) -> str:
    """Return the path from the working folder if it lies in it; of an installed package, the path in the package."""
    try:
        relative = str(Path(path).relative_to(folder))
    except ValueError:
        relative = path
    return _PACKAGES.sub("", relative, count=1)


def check_remarks(trace: dict[str, Any]) -> Iterator[str]:
    """Yield how far starved time lies from what the kernels' timeline says of the same steps, where that was checked."""
    check = trace["starved_check"]
    if check is not None:
        steps = max(check["steps"], 1)
        by_kernels, by_launches = (duration(check[name] / steps) for name in ("timeline_ns", "starved_ns"))
        yield (
            f"idle GPU time was checked in {plural(check['steps'], 'step')} ({plural(check['waits'], 'sync')}):"
            f" {by_kernels} per step by the kernels' own timeline, {by_launches} by the launches"
        )


def duration(nanoseconds: float) -> str:
    """Return a time with three digits and the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}"
                if nanoseconds < 999.5 * size
                else f"{nanoseconds / size:.0f} {unit}"
            )
    return f"{nanoseconds:.0f} ns" if nanoseconds else "0"


def share(part: float, whole: float) -> str:
    """Return a share in per cent."""
    return f"{100 * part / whole:.1f}%" if whole else "-"
