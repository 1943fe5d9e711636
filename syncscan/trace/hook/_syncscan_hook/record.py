"""The recorder of events: ``WaitRecorder.record``, or its parts where the call is still running.

Runs inside CUDA callbacks: takes no lock, does no I/O and imports nothing.
"""

from __future__ import annotations

from _thread import get_ident
from time import perf_counter_ns

from .entry import MOST_THREADS, THREAD_BITS, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .interfaces import Listener, Node, Position

DEPTH = range(64)  # frames
MAX_ENTRIES = 20_000
LESS_DEEP = 12  # frames of as many stacks more: from the inside of torch to the program


def _named(path: str, function: str) -> CodeType:
    """Return a code object for an event without code, on line 0 of a file that does not exist."""
    code: Any = compile("", path, "exec")
    names = {name: function for name in ("co_name", "co_qualname") if hasattr(code, name)}
    named: CodeType = code.replace(co_firstlineno=0, **names)
    return named


_OTHERS = _named("<other stacks>", f"stacks beyond the first {3 * MAX_ENTRIES:,}")
# The number of synchronizations with a time in the timeline: the first of all, and the first from the first steady step on.
MOMENTS = 300
STEADY_MOMENTS = 700


class WaitRecorder:
    """All synchronizations of this process, by stack."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Any, ...], Entry] = {}
        self.latest: dict[int, Entry] = {}  # by the innermost position of their stacks
        # By the ids of their code objects, which stay theirs, since this keeps them alive, and by offset.
        self.positions: dict[tuple[int, int], Position] = {(id(_OTHERS), 0): (_OTHERS, 0)}
        self.recording = True  # false before and after the part of the run that is traced
        self.phase = "outside"
        self.active: dict[
            int, Any
        ] = {}  # threads by ident, of the module threading; set once the program has imported it
        self.numbers = {"other threads": 0}  # by the name of the thread
        self.listeners: list[Listener] = []  # called with (entry, duration_ns, frame, detector); may raise
        self.region: Callable[[], str | None] | None = (
            None  # a function that gives the reason of the allow_sync region, or None
        )
        self.in_step: dict[Entry, list[int]] | None = None  # {entry: [count, ns]} of the running step
        self.moments: list[tuple[Entry, int, int, int]] = []  # (entry, end, ns, number of the thread)
        self.room = MOMENTS  # for more of them
        self.windows: list[tuple[Any, ...]] = []  # steps in time, see `steps`

    def record(
        self, api: str, duration_ns: int, frame: FrameType, detector: str, node: Node | None = None
    ) -> Entry:
        """Count one synchronization at ``frame`` and return its entry."""
        entry = self.entry_at(frame, api, node)
        self.count(entry, duration_ns, self.number_of(self.active.get(get_ident())), frame, detector)
        return entry

    def number_of(self, thread: Any) -> int:
        """Return the number of a thread of Python, or of all other threads (None)."""
        name = "native thread" if thread is None else thread._name
        number = self.numbers.get(name)
        if number is None:
            number = len(self.numbers) if len(self.numbers) < MOST_THREADS else 0
            if number:
                self.numbers[name] = number
        return number

    def entry_at(self, frame: FrameType | None, api: str, node: Node | None = None) -> Entry:
        """Return the entry of the stack that ends in ``frame`` (None: no Python on this thread)."""
        allowed = self.region() if self.region is not None else None
        if frame is None:
            return self._entry_of(frame, api, allowed, node)
        # Mostly the stack is the one that blocked there last. To compare takes half the time of a new key.
        innermost = id(frame.f_code) + frame.f_lasti
        entry = self.latest.get(innermost)
        if (
            entry is not None
            and entry.api == api
            and entry.phase == self.phase
            and entry.allowed == allowed
            and entry.node == node
        ):
            walk: FrameType | None = frame
            for code, offset in entry.positions:
                if walk is None or walk.f_code is not code or walk.f_lasti != offset:
                    break
                walk = walk.f_back
            else:
                if walk is None or len(entry.positions) == len(DEPTH):
                    return entry
        entry = self.latest[innermost] = self._entry_of(frame, api, allowed, node)
        return entry

    def _entry_of(self, frame: FrameType | None, api: str, allowed: str | None, node: Node | None) -> Entry:
        stack: list[int] = []
        walk = frame
        for _ in DEPTH:
            if walk is None:
                break
            stack += id(walk.f_code), walk.f_lasti
            walk = walk.f_back
        key = (*stack, api, self.phase, allowed, node)
        entry = self.entries.get(key)
        return entry if entry is not None else self._new_entry(key, stack, frame)

    def count(
        self, entry: Entry, duration_ns: int, thread: int, frame: FrameType | None = None, detector: str = ""
    ) -> None:
        """Count one synchronization of ``entry`` on a thread of this number; a listener may raise."""
        entry.recent.append(duration_ns << THREAD_BITS | thread)
        if self.room > 0:
            self.room -= 1
            self.moments.append((entry, perf_counter_ns(), duration_ns, thread))
        step = self.in_step
        if step is not None and entry.allowed is None:
            counts = step.get(entry)
            if counts is None:
                counts = step[entry] = [0, 0]
            counts[0] += 1
            counts[1] += duration_ns
        for listener in self.listeners:
            listener(entry, duration_ns, frame, detector)

    def extend(self, entry: Entry, duration_ns: int) -> None:
        """Add ``duration_ns`` to the event that ``entry`` counted last."""
        entry.extend(duration_ns)
        step = self.in_step
        if step is not None and entry in step:
            step[entry][1] += duration_ns

    def _new_entry(self, key: tuple[Any, ...], stack: list[int], frame: FrameType | None) -> Entry:
        api, phase, allowed, node = key[-4:]
        if len(self.entries) >= MAX_ENTRIES:  # keep counting: by fewer frames, by one, or all in one
            allowed = node = None
            others = [id(_OTHERS), 0] if stack else stack
            fewer = (2 * MAX_ENTRIES, stack[: 2 * LESS_DEEP]), (3 * MAX_ENTRIES, stack[:2]), (0, others)
            for bound, kept in fewer:
                key = (*kept, api, phase, None, None)
                if key in self.entries:
                    return self.entries[key]
                if len(self.entries) < bound:
                    break
            stack, frame = kept, None if kept is others else frame
        positions = []
        for known in zip(stack[::2], stack[1::2]):
            if frame is not None:
                self.positions.setdefault(known, (frame.f_code, known[1]))
                frame = frame.f_back
            positions.append(self.positions[known])
        entry = Entry(len(self.entries), tuple(stack), tuple(positions), api, phase, allowed, node)
        return self.entries.setdefault(key, entry)

    def digest(self) -> None:
        """Add up what came since the last time."""
        for entry in list(self.entries.values()):
            entry.digest()

    def reset(self) -> None:
        """Discard the counts, in a forked child."""
        self.entries.clear()
        self.latest.clear()
        self.moments.clear()
        self.windows.clear()
        self.room = MOMENTS
        self.phase = "outside"
        self.in_step = None
