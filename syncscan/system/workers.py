"""Work in forked processes, which see all that is known and copy none of it: shares of a whole, what runs beside, and trials."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# More workers take more memory than they save time: each copies the pages it touches.
_MOST = 4


def workers(jobs: int) -> int:
    """Return how many processes to use where ``jobs`` were asked for; 0 leaves the choice to us."""
    if not hasattr(os, "fork"):
        return 1
    return jobs or min(os.cpu_count() or 1, _MOST)


def shared(work: Callable[[int, int], Result], count: int) -> list[Result]:
    """Return ``work(share, count)`` for every share from 0 to ``count`` - 1, in order; the first one runs here.

    Results are pickled. A share that a child does not bring back, for whatever reason, is done here again.
    """
    children = [_start(partial(_alone, partial(work, share, count))) for share in range(1, count)]
    results = [work(0, count)]
    for share, child in enumerate(children, 1):
        data = _end(*child)
        results.append(work(share, count) if data is None else pickle.loads(data))  # noqa: S301 (our own child)
    return results


@contextmanager
def beside(work: Callable[[], Result], count: int) -> Iterator[Callable[[], Result]]:
    """Begin ``work`` in a child, where ``count`` allows a second process; it runs beside the body of the ``with`` statement.

    The function yielded waits for the result, which is pickled. If the child brings none back, the function does the work here.
    """
    # A child would wait, with all its memory, until a pipe is read, so it writes a file.
    file = _scratch_file() if count > 1 else None
    if file is None:
        yield work
        return

    def write() -> None:
        pickle.dump(work(), file)
        file.flush()

    with file:
        pid = _fork(write)
        ended: list[int] = []  # with which status

        def result() -> Result:
            if not ended:
                ended.append(_status_of(pid))
            file.seek(0)
            return work() if ended[0] else pickle.load(file)  # noqa: S301 (our own child)

        try:
            yield result
        finally:
            if not ended:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                _status_of(pid)


def _scratch_file() -> IO[bytes] | None:
    """Return a file without a name; None where the machine has no folder for one."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return None


def _status_of(pid: int) -> int:
    """Wait for a child to end; return its status, 1 if somebody else has taken it."""
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:  # the parent of this process ignores how children end
        return 1


def in_order(work: Callable[[Item], Result], items: Sequence[Item], count: int) -> Iterator[Result]:
    """Yield ``work(item)`` for every item, in order, by ``count`` children that run ahead of the consumer.

    A child holds a result back until the one before is taken, so that memory does not grow with the items.
    Results are pickled. An item that a child does not bring back is done here, and an error is raised here.
    """
    count = min(count, len(items))
    if count == 1:
        yield from map(work, items)
        return
    children = [_start(partial(map, work, items[share::count])) for share in range(count)]
    streams = [os.fdopen(pipe, "rb") for _, pipe in children]
    try:
        for number, item in enumerate(items):
            try:
                result = pickle.load(streams[number % count])  # noqa: S301 (as above)
            except (EOFError, pickle.UnpicklingError):  # it ended, perhaps in the midst of a result
                result = work(item)
            yield result
    finally:
        for stream in streams:
            stream.close()
        for pid, _ in children:
            os.waitpid(pid, 0)


def trial(work: Callable[[], Result], seconds: int, memory: int) -> Result | None:
    """Return ``work()``, done in a child that may crash or hang; None where the child brings nothing back.

    The child may take some seconds of the processor: how busy the machine is changes no result. It may take so
    many more bytes of ``memory`` than this process has.
    """
    if not hasattr(os, "fork"):
        return work()

    def limited() -> Result:
        faulthandler.disable()  # a crash is expected here, and no news
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _limit_memory(memory)
        return work()

    data = _end(*_start(partial(_alone, limited)))
    return None if data is None else pickle.loads(data)  # noqa: S301 (as above)


def _limit_memory(more: int) -> None:
    """Let this process take so many more bytes than it has, and leave no core dump where it wants others.

    Only Linux says how many bytes it has, and only there the limit is kept.
    """
    import resource  # noqa: PLC0415 (Windows has none)

    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [pages * resource.getpagesize() + more, soft, hard]
    allowed = min(each for each in limits if each != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _alone(work: Callable[[], Result]) -> Iterator[Result]:
    yield work()


def _start(work: Callable[[], Iterable[object]]) -> tuple[int, int]:
    reader, writer = os.pipe()

    def write() -> None:
        os.close(reader)
        with os.fdopen(writer, "wb") as stream:
            for result in work():
                pickle.dump(result, stream)
                stream.flush()

    pid = _fork(write)
    os.close(writer)
    return pid, reader


def _fork(work: Callable[[], None]) -> int:
    """Start a child that does some work and ends; return its number."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the progress bar's thread: a child draws nothing
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        work()
        status = 0
    finally:
        os._exit(status)  # exit handlers and buffers of the parent must not run or flush twice


def _end(pid: int, pipe: int) -> bytes | None:
    """Return the bytes that a child wrote; None where the child failed."""
    with os.fdopen(pipe, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(pid, 0)
    return data if status == 0 else None
