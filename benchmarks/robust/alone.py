"""Checks each file of a folder alone, in order, and proves its first functions; prints a line of JSON for each file.

    python -m benchmarks.robust.alone FOLDER SLOW

The line holds the seconds of the processor that `ast.parse` takes for the file, and what is wrong with checking
it: a defect of syncscan, that it takes more than SLOW times as long, or a proof that differs once walks are kept. Proofs
are bound in the same way.
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

from syncscan.check.engine import Engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.prove.certificate import Proofs
from syncscan.model import Conventions, Finding

_SHORTEST = 1.0  # seconds; nothing that takes less is called slow
_GIVEN_UP = 10  # after that many times of what is slow
_PROVED = 12  # functions of a file
_DIFFERS = "a proof differs once walks are kept"


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
    """The seconds that `ast.parse` takes for a file, and what is wrong with checking it and with proofs of it."""
    try:
        source = read_source(path, folder, {})
    except SourceError:
        return 0.0, []
    parse = _time(lambda: _parse(source.text))
    alone, faults = _Alone(source), list[str]()
    for work, times in ((alone.check, 1), (alone.prove, 2)):  # which proves twice
        allowed = times * max(_SHORTEST, slow * parse)
        try:
            with _alarm(_GIVEN_UP * allowed):
                taken = _time(work)
        except _TooLong:
            late = f"{work.__name__}: not done after {_GIVEN_UP * allowed:.0f} s"
            return parse, [*faults, f"{late}; `ast.parse` takes {parse:.3f} s"]
        if taken > allowed:
            longer = f"{taken / parse:.0f} times as long as `ast.parse`"
            faults.append(f"{work.__name__}: takes {taken:.1f} s, {longer}")
    return parse, [*(fault for message in alone.messages for fault in faults_in(message)), *faults]


class _Alone:
    """One file, and all messages of its check and of its proofs."""

    def __init__(self, source: Source) -> None:
        self.messages: list[str] = []
        self._source = source
        self._engine = Engine(Conventions())
        self._findings: list[Finding] = []

    def check(self) -> None:
        """Check the file."""
        result = self._engine.check([self._source], None, lambda *_: None)
        self._findings = result.findings
        self.messages += [said.message for said in (*result.failed, *result.findings)]

    def prove(self) -> None:
        """Prove the first functions, and prove them again with the walks of these proofs."""
        solver = self._engine.solver
        assert solver is not None
        proofs = Proofs(solver, self._findings, [self._source], kept=(None, None))
        modules = [module.name for module in solver.context.modules]
        named = dict.fromkeys(f"{module}:{name}" for module in modules for name in proofs.functions(module))
        entries = [*named][:_PROVED]
        found = [proofs.certify(entry) for entry in entries]
        self.messages += [each.finding.message for certificate in found for each in certificate.obstacles]
        kept = (proofs.walks(), proofs.plain_walks())
        again = Proofs(solver, self._findings, [self._source], kept=kept)
        if [again.certify(entry) for entry in entries] != found:
            self.messages.append(_DIFFERS)


def faults_in(message: str) -> Iterator[str]:
    """What is wrong with a message."""
    if not message.isprintable():
        yield f"a message that is not one line: {message!r}"
    if "a defect of syncscan" in message:
        yield message[message.index("a defect of syncscan") :]
    if message == _DIFFERS:
        yield message


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
