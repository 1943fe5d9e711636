"""The count and the duration of one stack's synchronizations."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .interfaces import Node, Position

THREAD_BITS = 8
MOST_THREADS = 1 << THREAD_BITS


class Entry:
    """The events of one stack in one phase; memory grows with distinct stacks, and between two flushes with events.

    ``WaitRecorder.count`` appends to ``recent``, and all else is made of that with the flush. Inside a CUDA
    call every word of memory that is touched costs, since the program's own work has taken the cache.
    """

    __slots__ = (
        "allowed",
        "api",
        "count",
        "flushed",
        "histogram",
        "id",
        "idle",
        "longest_ns",
        "node",
        "paired",
        "phase",
        "positions",
        "recent",
        "squares",
        "stack",
        "starved",
        "threads",
        "total_ns",
        "warned",
    )

    def __init__(
        self,
        number: int,
        stack: tuple[int, ...],
        positions: tuple[Position, ...],
        api: str,
        phase: str,
        allowed: str | None,
        node: Node | None,
    ) -> None:
        self.id = number
        self.stack = stack  # (id of code object, offset of the instruction) pairs, innermost first, flat
        self.positions = positions  # the same with the code objects themselves, and not flat
        self.api = api
        self.phase = phase  # "outside" of steps, "warmup" or "steady"
        self.allowed = allowed  # the reason of an allow_sync region, or None
        self.node = node  # (name, forward line) of the autograd node, or None
        self.recent: list[
            int
        ] = []  # by synchronization since the last flush: its nanoseconds, shifted, and its thread's number
        self.idle: list[int] = []  # since the last flush, the idle GPU time after a synchronization
        self.starved = [0, 0]  # number of synchronizations with measured idle time, and the sum of their ns
        self.count = 0
        self.paired = 0  # blocking copies that a synchronization of the same operation followed
        self.warned = 0  # how many of the events debug mode saw as well
        self.total_ns = 0
        self.longest_ns = 0
        self.histogram: dict[int, int] = {}
        self.threads: dict[int, int] = {}  # synchronizations by the thread's number
        self.flushed = 0.0
        self.squares = (0.0, 0.0)  # over the steady steps, the sums of count**2 and of ns**2

    def digest(self) -> None:
        """Add up the recent events. An event that comes meanwhile, on another thread, is not lost."""
        take, histogram, threads = self.recent.pop, self.histogram, self.threads
        for _ in range(len(self.recent)):
            duration, thread = divmod(take(), MOST_THREADS)
            self.count += 1
            self.total_ns += duration
            self.longest_ns = max(self.longest_ns, duration)
            index = bucket(duration)
            histogram[index] = histogram.get(index, 0) + 1
            threads[thread] = threads.get(thread, 0) + 1

        for _ in range(len(self.idle)):
            self.starved[0] += 1
            self.starved[1] += self.idle.pop()

    def extend(self, duration_ns: int) -> None:
        """Add the synchronization that an operation makes after its blocking copy: the same event."""
        self.paired += 1
        self.total_ns += duration_ns


def bucket(duration_ns: int) -> int:
    """Return the number of the histogram bucket: 8 to an octave, so that the error of a quantile is at most 7%."""
    bits = duration_ns.bit_length()
    if bits <= 4:
        return duration_ns
    return (bits << 3) | ((duration_ns >> (bits - 4)) & 7)
