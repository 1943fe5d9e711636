"""The part of a run that is traced: from some seconds after the command was started on, and for so many."""

from __future__ import annotations

from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NEVER = 1 << 63


class Window:
    """When what is traced begins and ends, on the clock that all processes share."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._begins = int(options.get("begins_ns", "0"))
        self._ends = int(options.get("ends_ns", str(NEVER)))

    @property
    def is_open(self) -> bool:
        """Return whether what happens now is traced."""
        return self._begins <= perf_counter_ns() < self._ends

    @property
    def is_over(self) -> bool:
        """Return whether nothing more is traced."""
        return perf_counter_ns() >= self._ends

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the window opens, or until its end; the value is negative after the end."""
        now = perf_counter_ns()
        return ((self._begins if now < self._begins else self._ends) - now) / 1e9
