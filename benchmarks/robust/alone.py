"""Checks each file of a folder alone, in order, and prints a line of JSON for each as soon as it is done.

    python -m benchmarks.robust.alone FOLDER SLOW

The line holds the seconds of the processor that `ast.parse` takes for the file, and what is wrong with checking
it: a defect of syncscan, or that it takes more than SLOW times as long.
"""

from __future__ import annotations

import ast
import gc
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from syncscan.check.engine import check_sources
from syncscan.check.files import Source, SourceError, read_source
from syncscan.model import Conventions

_SHORTEST = 1.0  # seconds; nothing that takes less is called slow
_GIVEN_UP = 10  # after that many times of what is slow


class _TooLong(BaseException):
    """Ends an analysis; no handler for errors may take it for one."""


def main() -> None:
    """Print the lines."""
    folder, slow = Path(sys.argv[1]), float(sys.argv[2])
    for path in sorted(folder.rglob("*.py")):
        parse, faults = timed(path, folder, slow)
        print(json.dumps({"parse": parse, "faults": faults}), flush=True)
        gc.collect()  # one syntax tree after the other, not all of them at once


def timed(path: Path, folder: Path, slow: float) -> tuple[float, list[str]]:
    """The seconds that `ast.parse` takes for a file, and what is wrong with checking it."""
    try:
        source = read_source(path, folder, {})
    except SourceError:
        return 0.0, []
    parse = _time(lambda: _parse(source.text))
    allowed = max(_SHORTEST, slow * parse)
    messages: list[str] = []
    try:
        with _alarm(_GIVEN_UP * allowed):
            taken = _time(lambda: messages.extend(_check(source)))
    except _TooLong:
        return parse, [f"not done after {_GIVEN_UP * allowed:.0f} s; `ast.parse` takes {parse:.3f} s"]
    faults = [fault for message in messages for fault in faults_in(message)]
    if taken > allowed:
        faults.append(f"takes {taken:.1f} s, {taken / parse:.0f} times as long as `ast.parse`")
    return parse, faults


def faults_in(message: str) -> Iterator[str]:
    """What is wrong with a message."""
    if not message.isprintable():
        yield f"a message that is not one line: {message!r}"
    if "a defect of syncscan" in message:
        yield message[message.index("a defect of syncscan") :]


def _check(source: Source) -> list[str]:
    result = check_sources([source], None, Conventions(), lambda *_: None)
    return [said.message for said in (*result.failed, *result.findings)]


def _parse(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass


def _time(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ring after that much time of the processor, of which a busy machine gives less."""

    def ring(*_: object) -> None:
        raise _TooLong

    previous = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


if __name__ == "__main__":
    main()
