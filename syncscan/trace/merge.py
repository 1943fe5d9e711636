"""Traces of one run, from several machines or launchers, put together one after the other into one trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from syncscan.trace.lines import Ranges, Rows, joined_callees, joined_callers, merged
from syncscan.trace.sites import MAX_STACKS
from syncscan.trace.spread import Spread, pooled
from syncscan.trace.store import added_up, quantile
from syncscan.words import noun

Trace = dict[str, Any]
MAX_SITES = 200_000  # different ones; what comes beyond is counted at none
MAX_PROCESSES = 20_000
MAX_TIMES = 40_000  # of synchronizations and steps in the timeline
MAX_TIMES_OF_ONE = 1_000  # process
_KEPT_STACKS = 4 * MAX_STACKS
_IDENTITY = (
    *("path", "line", "column", "end_line", "end_column", "function", "expression", "code"),
    *("api", "phase", "in_step", "allowed", "backward_of", "breaks_graph", "uncomputed"),
)
_SPREADS = ("syncs", "blocked_ns")


@dataclass(frozen=True)
class PartialMerge:
    """Some of the traces, put together."""

    trace: Trace
    left_out: int  # sites
    shared_ranks: Set[int]  # that are in several of the traces


def merge(traces: Iterable[tuple[str, Trace]]) -> PartialMerge:
    """Merge several traces, each with a unique name, into one.

    Memory grows with the different sites and with the processes, and not with the traces.
    """
    merger = _Merger()
    for name, trace in traces:
        merger.add(name, PartialMerge(trace, 0, frozenset()))
    return merger.whole()


def merge_parts(parts: Iterable[PartialMerge]) -> Trace:
    """Return one trace of the results of `merge` for parts of the traces, in their order."""
    merger = _Merger()
    for part in parts:
        merger.add("", part)
    return merger.whole_with_remarks()


class _Merger:
    def __init__(self) -> None:
        self._first: Trace = {}
        self._number = 0
        self._sites: dict[tuple[Any, ...], _Site] = {}
        self._processes: list[dict[str, Any]] = []
        self._worst: dict[str, Any] = {}
        self._left_out = 0
        self._timeline: list[dict[str, Any]] = []
        self._times = 0
        self._uncomputed: Counter[str] = Counter()
        self._decided: Counter[str] = Counter()
        self._lines: list[Ranges | None] = []
        self._callees: list[Rows] = []
        self._callers: list[Rows] = []
        self._check: dict[str, int] | None = None
        self._ranks: set[int] = set()
        self._shared_ranks: set[int] = set()

    def add(self, name: str, part: PartialMerge) -> None:
        trace = part.trace
        self._left_out += part.left_out
        self._number += 1
        if self._number == 1:
            self._first = trace
            self._steps = trace["steps"]
        else:
            self._first["exit_status"] = self._first["exit_status"] or trace["exit_status"]
            self._first["wall_ns"] = max(self._first["wall_ns"], trace["wall_ns"])
            self._add_steps(trace["steps"])
        room = MAX_PROCESSES - len(self._processes)
        self._processes += trace["processes"][:room]
        ranks = {process["rank"] for process in trace["processes"] if process["hooked"]} - {None}
        self._shared_ranks |= part.shared_ranks | ranks & self._ranks
        self._ranks |= ranks
        for kind, worst in trace["worst_step"].items():
            if worst["value"] > self._worst.get(kind, {}).get("value", 0):
                self._worst[kind] = worst
        numbers = [self._add_site(name, site) for site in trace["sites"]]
        self._add_timeline(trace["timeline"], numbers)
        self._uncomputed.update(trace["uncomputed"])
        self._decided.update(trace["decided"])
        self._lines.append(trace["lines"])
        self._callees.append(trace["callees"])
        self._callers.append(trace["callers"])
        self._check = added_up([self._check, trace["starved_check"]])

    def _add_steps(self, steps: dict[str, Any] | None) -> None:
        if self._steps is None or steps is None:
            self._steps = self._steps or steps
            return
        for name in ("started", "steady", "wall_ns"):
            self._steps[name] += steps[name]

    def _add_timeline(self, timeline: list[dict[str, Any]], numbers: list[int | None]) -> None:
        for process in timeline:
            most = min(MAX_TIMES_OF_ONE, max(0, MAX_TIMES - self._times))
            waits = [[numbers[wait[0]], *wait[1:]] for wait in process["waits"] if wait[0] < len(numbers)]
            waits = [wait for wait in waits if wait[0] is not None]
            kept = process | {"waits": waits[-most:] if most else [], "steps": process["steps"][-most:]}
            self._times += len(kept["waits"]) + len(kept["steps"])
            self._timeline.append(kept)

    def _add_site(self, name: str, site: dict[str, Any]) -> int | None:
        """Return the site's number in the order of arrival; None if the site is left out."""
        key = tuple(site[field] for field in _IDENTITY)
        found = self._sites.get(key)
        if found is None:
            if len(self._sites) >= MAX_SITES:
                self._left_out += 1
                return None
            found = self._sites[key] = _Site(site, len(self._sites))
        found.add(name, site)
        return found.number

    def whole_with_remarks(self) -> Trace:
        trace = self.whole().trace
        noting = next((process for process in self._processes if process["hooked"]), None)
        if noting is not None:
            noting["notes"] += self._remarks()
        return trace

    def whole(self) -> PartialMerge:
        order = sorted(self._sites.values(), key=lambda site: (-site.total, -site.count))
        indices = {site.number: index for index, site in enumerate(order)}
        for process in self._timeline:
            process["waits"] = [[indices[wait[0]], *wait[1:]] for wait in process["waits"]]
        trace = self._first | {
            "steps": self._steps,
            "worst_step": self._worst,
            "processes": self._processes,
            "sites": [site.whole() for site in order],
            "timeline": self._timeline,
            "uncomputed": dict(self._uncomputed.most_common()),
            "decided": dict(self._decided.most_common()),
            "lines": merged(self._lines),
            "callees": joined_callees(self._callees),
            "callers": joined_callers(self._callers),
            "starved_check": self._check,
        }
        return PartialMerge(trace, self._left_out, self._shared_ranks)

    def _remarks(self) -> Iterator[str]:
        if self._left_out:
            are = noun(self._left_out, "site is", "sites are")
            yield f"{self._left_out:,} {are} left out: there are more than {MAX_SITES:,} different ones"
        if self._shared_ranks:
            yield (
                f"rank {min(self._shared_ranks)} is in several of the traces, and its counts are added up;"
                " if these are different runs, `syncscan trace diff` compares two"
            )


class _Site:
    """The sums of one site over all traces."""

    def __init__(self, first: dict[str, Any], number: int) -> None:
        self.number = number
        self._first = {field: first[field] for field in (*_IDENTITY, "name", "instead")}
        self.count = self.total = self._longest = 0
        self._starved: dict[str, int] | None = None
        self._histogram: Counter[int] = Counter()
        self._spreads: dict[str, list[Spread]] = {name: [] for name in _SPREADS}
        self._detectors: set[str] = set()
        self._missed_by: set[str] = set(first["missed_by"])
        self._threads: Counter[str] = Counter()
        self._ranks: Counter[str] = Counter()
        self._rank_ns: Counter[str] = Counter()
        self._stacks: Counter[tuple[str, ...]] = Counter()

    def add(self, name: str, site: dict[str, Any]) -> None:
        blocked = site["blocked_ns"]
        self.count += site["count"]
        self.total += blocked["total"]
        self._longest = max(self._longest, blocked["max"])
        for bucket, count in blocked["histogram"].items():
            self._histogram[bucket] += count
        if site["starved_ns"] is not None:
            starved = self._starved or {"total": 0, "measured": 0}
            self._starved = {name: starved[name] + site["starved_ns"][name] for name in starved}
        self._add_spreads(site)
        self._detectors.update(site["detectors"])
        self._missed_by.intersection_update(site["missed_by"])
        _add(self._threads, site["threads"])
        _add(self._ranks, site["ranks"], name)
        _add(self._rank_ns, site["rank_ns"], name)
        for stack in site["stacks"]:
            self._stacks[tuple(stack["frames"])] += stack["count"]
        if len(self._stacks) > _KEPT_STACKS:
            self._stacks = Counter(dict(self._stacks.most_common(MAX_STACKS)))

    def _add_spreads(self, site: dict[str, Any]) -> None:
        if not site["per_step"]:
            return
        steps = round(site["count"] / site["per_step"])
        totals = {"syncs": site["count"], "blocked_ns": site["blocked_ns"]["total"]}
        for name, parts in self._spreads.items():
            deviation = (site["step_spread"] or {}).get(name, 0.0)
            parts.append(Spread(steps, totals[name], deviation))
            if len(parts) > 1:  # one stands for all so far
                whole = Spread(parts[0].steps + steps, parts[0].total + totals[name], pooled(parts))
                parts[:] = [whole]

    def whole(self) -> dict[str, Any]:
        spreads = {name: parts[0] for name, parts in self._spreads.items() if parts}
        steps = spreads["syncs"].steps if spreads else 0
        return self._first | {
            "count": self.count,
            "blocked_ns": {
                "total": self.total,
                "max": self._longest,
                "p50": quantile(self._histogram, 0.5),
                "p99": quantile(self._histogram, 0.99),
                "histogram": dict(sorted(self._histogram.items())),
            },
            "starved_ns": self._starved,
            "per_step": self.count / steps if steps else None,
            "step_spread": {name: spread.deviation for name, spread in spreads.items()} or None,
            "detectors": sorted(self._detectors),
            "missed_by": sorted(self._missed_by),
            "threads": dict(self._threads.most_common(8)),
            "ranks": dict(sorted(self._ranks.items())),
            "rank_ns": dict(sorted(self._rank_ns.items())),
            "stacks": [
                {"count": count, "frames": list(frames)}
                for frames, count in self._stacks.most_common(MAX_STACKS)
            ],
        }


def _add(whole: Counter[str], part: dict[str, int], trace: str = "") -> None:
    """Add numbers by name; a process without a rank loses its pid, which means nothing outside its trace."""
    for name, number in part.items():
        whole[f"{trace} {name}" if trace and name.startswith("pid ") else name] += number
