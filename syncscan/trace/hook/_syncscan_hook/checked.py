"""Idle GPU time of a few steps, held against the kernels' own timeline.

After the second steady step, and then after ten times as many as before, the timeline is recorded for five steps. The first of them
still bears the cost of that, and the last shows the end of the one before. So the three between are compared. Recording begins and
ends between steps, in the thread that makes them. The thread that writes the trace reads the records.
"""

from __future__ import annotations

from _thread import allocate_lock
from bisect import bisect_left
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .interfaces import Note
    from .starved import Starved
    from .timeline import Timeline

FIRST, SPACED = 2, 10  # after so many steady steps the first time, and after so many times as many the next
STEPS = 5  # are recorded, and the first and the last of them not compared
CHECKS = 4
LONGEST_NS = 30_000_000_000  # that is recorded at once
PATIENCE = 10  # how often at most the check asks whether all recorded work has ended
SECONDS = 1.0  # for which one thread lets another thread read


class TimelineCheck:
    """Compares; ``result`` is all that was compared so far, or None."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self.reset()

    def reset(self) -> None:
        """Discard the comparison, in a forked child."""
        self.result: dict[str, int] | None = None
        self._made_of: tuple[Starved, Timeline] | None = None
        self._steady = 0
        self._next = FIRST
        self._checks = 0
        self._left = 0  # steps to be recorded still
        self._began = 0
        self._windows: list[tuple[int, int]] = []  # of the steps to be compared
        self._waits: list[tuple[int, int, int]] | None = None  # as `Starved.log`, of what is to be compared
        self._reading = allocate_lock()
        self._patience = 0

    def begin(self, starved: Starved, timeline: Timeline) -> None:
        """Begin to compare: both sources are there."""
        self._made_of = starved, timeline

    def after_step(self, began: int, lasted: int) -> None:
        """Note the end of a steady step; to be called in its thread."""
        if self._made_of is None:
            return
        self._steady += 1
        if self._left:
            self._left -= 1
            if not self._left:
                self._stop()
            elif self._left < STEPS - 1:
                self._windows.append((began, began + lasted))
        elif self._steady >= self._next and self._checks < CHECKS and not self._is_to_read:
            self._next = self._steady * SPACED
            self._start()

    @property
    def _is_to_read(self) -> bool:
        return self._waits is not None or self._reading.locked()

    def _start(self) -> None:
        assert self._made_of is not None
        starved, timeline = self._made_of
        self._checks += 1
        self._began = perf_counter_ns()
        self._windows, starved.log = [], []
        why_not = timeline.start()
        if why_not is None:
            self._left = STEPS
        else:
            starved.log = None
            self._give_up(why_not)

    def _stop(self) -> None:
        assert self._made_of is not None
        starved, timeline = self._made_of
        self._left = 0
        timeline.stop()
        self._patience = PATIENCE
        self._waits, starved.log = starved.log, None

    def _give_up(self, why: str) -> None:
        self._checks = CHECKS
        if self.result is None:
            self._note(f"idle GPU time was not checked against the kernels' timeline: {why}")

    def end(self) -> None:
        """End the recording, and read the records."""
        if self._left:
            self._stop()
        self._patience = 0
        self.read()
        self._made_of = None

    def read(self) -> None:
        """Compare the records, if any; this takes milliseconds."""
        if self._left and perf_counter_ns() - self._began > LONGEST_NS:
            self._stop()
        if self._waits is None or not self._reading.acquire(timeout=SECONDS):
            return
        try:
            if self._waits is not None and self._made_of is not None:
                self._compare(self._waits, self._made_of[1])
        except OSError as error:
            self._waits = None
            self._give_up(error.strerror or str(error))
        finally:
            self._reading.release()

    def _compare(self, waits: list[tuple[int, int, int]], timeline: Timeline) -> None:
        work = timeline.read(whole=self._patience <= 0)
        self._patience -= 1
        if work is None:
            return
        self._waits = None
        windows = self._comparable(waits)
        if not windows:
            return
        pairs: list[tuple[int, int, int]] = []
        for context in {context for context, _, _ in waits}:
            device = timeline.device_of(context)
            ran = [(begin, end) for on, begin, end in work if on == device]
            pairs += idle_after([(since, idle) for at, since, idle in waits if at == context], ran)
        counted = [
            (idle, by_kernels)
            for since, idle, by_kernels in pairs
            if any(began <= since < ended for began, ended in windows)
        ]
        before = self.result or {"steps": 0, "waits": 0, "starved_ns": 0, "timeline_ns": 0}
        self.result = {
            "steps": before["steps"] + len(windows),
            "waits": before["waits"] + len(counted),
            "starved_ns": before["starved_ns"] + sum(idle for idle, _ in counted),
            "timeline_ns": before["timeline_ns"] + sum(by_kernels for _, by_kernels in counted),
        }

    def _comparable(self, waits: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
        """Return the steps whose synchronizations all follow an idle GPU.

        Work that was launched before the first idle moment may not be recorded.
        """
        idle: dict[int, int | None] = {}
        for context, since, lasted in sorted(waits, key=lambda wait: wait[1]):
            if idle.get(context) is None:
                idle[context] = since if lasted else None
        if None in idle.values():
            return []
        return [
            (began, ended)
            for began, ended in self._windows
            if not any(began <= since < ended and since < (idle[at] or 0) for at, since, _ in waits)
        ]


def idle_after(waits: list[tuple[int, int]], work: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield for each synchronization its idle time by launches, and by the kernels that ran behind it.

    The latter ends with the next kernel or synchronization; 0 where a kernel runs already. Those that no kernel follows are left out.
    """
    waits, work = sorted(waits), sorted(work)
    begins = [begin for begin, _ in work]
    busy_until: list[int] = []
    for _, end in work:
        busy_until.append(max(end, busy_until[-1]) if busy_until else end)
    for number, (since, idle) in enumerate(waits):
        at = bisect_left(begins, since)
        if at and busy_until[at - 1] > since:
            yield since, idle, 0
        elif at < len(begins):
            following = waits[number + 1][0] if number + 1 < len(waits) else begins[at]
            yield since, idle, min(begins[at], following) - since
