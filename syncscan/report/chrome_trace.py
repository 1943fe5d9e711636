"""A trace as Chrome trace JSON, which Perfetto opens: the recorded times of steps and synchronizations, by process and thread.

Times are microseconds since 1970, which is what a trace of ``torch.profiler`` has once its
``baseTimeNanoseconds`` is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

_STEP_TRACK = "steps"


def render(trace: dict[str, Any], stream: TextIO) -> None:
    """Write one file."""
    data = {"displayTimeUnit": "ms", "baseTimeNanoseconds": 0, "traceEvents": list(_events(trace))}
    json.dump(data, stream)
    stream.write("\n")


def _events(trace: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for process in trace["timeline"]:
        pid, tracks = process["pid"], _Tracks(process["pid"])
        name = f"syncscan: rank {process['rank']}" if process["rank"] is not None else "syncscan"
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": f"{name} (pid {pid})"}}
        for phase, thread, began, lasted, waits, blocked in process["steps"]:
            yield tracks.event(
                f"{thread}: {_STEP_TRACK}",
                f"{phase} step",
                began,
                lasted,
                waits=waits,
                blocked_us=blocked / 1e3,
            )
        for index, thread, began, lasted in process["waits"]:
            if index < len(trace["sites"]):
                site = trace["sites"][index]
                where = f"{site['path']}:{site['line']}"
                what = site["expression"] or site["api"]
                yield tracks.event(
                    f"{thread}: syncs", what, began, lasted,
                    where=where, function=site["function"], code=site["code"], call=site["api"],
                )  # fmt: skip
        yield from tracks.names()


class _Tracks:
    """The numbers of one process's tracks."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._numbers: dict[str, int] = {}

    def event(self, track: str, name: str, began: int, lasted: int, **arguments: Any) -> dict[str, Any]:
        """Return an event with a duration, on a track."""
        number = self._numbers.setdefault(track, len(self._numbers) + 1)
        return {
            "ph": "X", "cat": "syncscan", "pid": self._pid, "tid": f"syncscan {number}", "name": name,
            "ts": began / 1e3, "dur": lasted / 1e3, "args": arguments,
        }  # fmt: skip

    def names(self) -> Iterator[dict[str, Any]]:
        """Yield the name of each track."""
        for name, number in self._numbers.items():
            yield {
                "ph": "M", "pid": self._pid, "tid": f"syncscan {number}", "name": "thread_name", "args": {"name": name},
            }  # fmt: skip
