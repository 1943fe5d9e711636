"""Detector ``debug-mode``: torch warns before an operation blocks, and a filter of ours catches the warning.

The filter comes before all others and is asked about the text of every warning: for torch's it counts
the event and says "ignore". So nothing is printed, ``-W error`` does not raise, ``record=True`` does
not see it, and the registry that shows a line only once is never reached. Whoever changes the filters
calls ``warnings._filters_mutated``, where the filter goes back to its place.
"""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .cupti import Cupti
    from .interfaces import Note, Sink

SYNCHRONIZES = "called a synchronizing CUDA operation"
PROTOTYPE = "Synchronization debug mode is a prototype feature"
OFF, WARN = range(2)


class DebugMode:
    """Arms torch's debug mode and hands each of its warnings to the recorder."""

    name = "debug-mode"

    def __init__(self, recorder: Sink, note: Note, cupti: Cupti | None = None) -> None:
        self._recorder = recorder
        self._note = note
        self._cupti = cupti  # if armed as well, CUPTI counts, and debug mode reports what debug mode saw too
        self._wanted = OFF  # the mode that the program itself set
        self._filter: Any = ("ignore", self, Warning, None, 0)
        self._mutated: dict[str, Callable[[], None]] = {}
        self._torch_set: Any = None
        self._torch_get: Any = None

    def arm(self) -> str | None:
        """Start without initialising CUDA; return None, or the reason for a failure in one line."""
        torch_c = sys.modules["torch"]._C
        self._torch_set = getattr(torch_c, "_cuda_set_sync_debug_mode", None)
        self._torch_get = getattr(torch_c, "_cuda_get_sync_debug_mode", None)
        if self._torch_set is None or self._torch_get is None:
            return "this torch has no CUDA"
        self._wanted = self._torch_get()
        self._watch_filters()
        if self._wanted != OFF:  # a line that has already warned must reach the filter again
            _filters_changed()
        torch_c._cuda_set_sync_debug_mode = self._set
        torch_c._cuda_get_sync_debug_mode = lambda: self._wanted
        self._torch_set(max(self._wanted, WARN))
        return None

    def disarm(self) -> None:
        """Give torch and the warnings machinery back as they were."""
        if self._torch_set is None:
            return
        torch_c = sys.modules["torch"]._C
        torch_c._cuda_set_sync_debug_mode, torch_c._cuda_get_sync_debug_mode = (
            self._torch_set,
            self._torch_get,
        )
        self._torch_set(self._wanted)
        self._torch_set = None
        for name, function in self._mutated.items():
            setattr(warnings, name, function)
        self._mutated.clear()
        filters: Any = warnings.filters
        if self._filter in filters:
            filters.remove(self._filter)

    def before_flush(self) -> None:
        """Put the filter back: a program may replace the list without a word."""
        self.keep_first()

    def keep_first(self) -> None:
        """Put the filter back in front of the filters that the program added."""
        filters: Any = warnings.filters
        if not filters or filters[0] is not self._filter:
            if self._filter in filters:
                filters.remove(self._filter)
            filters.insert(0, self._filter)

    def _watch_filters(self) -> None:
        for name in ("_filters_mutated", "_filters_mutated_lock_held"):
            original = getattr(warnings, name, None)
            if original is not None:
                self._mutated[name] = original
                setattr(warnings, name, self._and_keep_first(original))
        self.keep_first()

    def _and_keep_first(self, original: Callable[[], None]) -> Callable[[], None]:
        def filters_mutated() -> None:
            self.keep_first()
            original()

        return filters_mutated

    def _set(self, mode: int) -> None:
        mode = int(mode)
        if mode != self._wanted:
            self._note(f"the program set the CUDA sync debug mode to {mode}; the trace goes on")
        self._wanted = mode
        self._torch_set(max(mode, WARN))

    def match(self, text: str) -> bool:
        """Return whether the filter applies to a warning; the warnings machinery passes the text of each warning."""
        if text.startswith(PROTOTYPE):
            return self._wanted == OFF
        if not text.startswith(SYNCHRONIZES):
            return False
        frame = sys._getframe(1)
        if self._cupti is not None and self._cupti.confirm(frame):
            return self._wanted == OFF
        self._recorder.record("debug-mode", 0, frame, self.name)  # a guard's SyncError leaves from here
        return self._wanted == OFF


def _filters_changed() -> None:
    """Make the interpreter forget which warnings were shown already."""
    if hasattr(warnings, "_filters_mutated"):
        warnings._filters_mutated()
    else:  # Python 3.14
        with warnings._lock:  # type: ignore[attr-defined]
            warnings._filters_mutated_lock_held()  # type: ignore[attr-defined]
