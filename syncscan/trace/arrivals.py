"""Separates signals that were sent to one process from signals that were sent to all.

A trace is two processes (see `front`). A signal to the whole process group (Ctrl-C, ``kill -- -PGID``), or
to every process of a job (Slurm, systemd), reaches both and the command. A signal to one pid
reaches one of the two. Nothing else separates the two cases: the kernel reports who sent a signal, and not
to whom.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

TOGETHER_SECONDS = 0.1  # at most between the arrivals of what was sent to all
_MEMORY_SECONDS = 1.0  # the kernel may merge two signals of one kind in one of the processes
# A SIGCONT removes a pending stop signal, and the reverse, also in the kernel.
_STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}


@dataclass(frozen=True)
class Sent:
    """A signal, whether it was sent to all, and when it came."""

    number: int
    to_all: bool
    when: float


@dataclass
class _Arrival:
    number: int
    at_front: bool
    since: float
    until: float
    settled: bool = False

    def is_twin_of(self, other: _Arrival) -> bool:
        return (
            self.number == other.number
            and self.at_front != other.at_front
            and self.since <= other.until + TOGETHER_SECONDS
            and other.since <= self.until + TOGETHER_SECONDS
        )


class Arrivals:
    """The signals that reached the two processes; times are seconds of one clock."""

    def __init__(self) -> None:
        self._arrivals: list[_Arrival] = []

    def add(self, number: int, since: float, until: float, *, at_front: bool) -> None:
        """Note a signal that reached the front, or the process behind it, between these two times."""
        undone = {signal.SIGCONT} if number in _STOPS else _STOPS if number == signal.SIGCONT else ()
        self._arrivals = [a for a in self._arrivals if a.settled or a.until > until or a.number not in undone]
        self._arrivals.append(_Arrival(number, at_front, since, until))

    @property
    def next_due(self) -> float:
        """Return when more signals can be judged; infinity if nothing is open."""
        open_since = (arrival.until for arrival in self._arrivals if not arrival.settled)
        return min(open_since, default=float("inf")) + TOGETHER_SECONDS

    def settle(self, now: float) -> list[Sent]:
        """Return the signals that can be judged by now, in the order of the arrival; all that arrived must have been added."""
        sent = []
        for arrival in sorted(self._arrivals, key=lambda arrival: arrival.until):
            if not arrival.settled and arrival.until + TOGETHER_SECONDS <= now:
                twins = [other for other in self._arrivals if other.is_twin_of(arrival)]
                for one in (arrival, *twins):
                    one.settled = True
                sent.append(Sent(arrival.number, bool(twins), arrival.until))
        self._arrivals = [a for a in self._arrivals if not a.settled or now < a.until + _MEMORY_SECONDS]
        return sent
