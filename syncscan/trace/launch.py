"""Starts the traced command, watches it and its descendants, and passes signals on."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from syncscan.errors import EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND, InterruptError, SyncscanError
from syncscan.simulate.export import TABLE_FILE
from syncscan.system.files import open_file
from syncscan.trace.arrivals import Arrivals, Sent
from syncscan.trace.front import ALL_REPORTED, AWAITED, Front, is_stopped
from syncscan.trace.interpreter import is_python

HOOK_FOLDER = Path(__file__).parent / "hook"
_OPTIONS_START = b"detector\t"
POLL_SECONDS = 0.25
_BLOCK = 4096
OPTIONS_FILE = "options"


class CommandError(SyncscanError):
    """The command could not be started."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


@dataclass
class Launched:
    """How the command ended, and every Python process below it that was seen, by its pid."""

    code: int = 0  # its exit status, or -n if signal n ended it
    interrupted: bool = False  # SIGINT came; it ends a Python in its start-up with status 1
    pythons: dict[int, ProcessSighting] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The exit status as a shell gives it: 128+n for signal n."""
        return self.code if self.code >= 0 else 128 - self.code


@dataclass
class ProcessSighting:
    """A Python process as the process table showed it."""

    argv: list[str]
    times: int = 1


class During(Protocol):
    """An activity while the command runs. It must not block: no signal would be passed on meanwhile."""

    def look(self, launched: Launched) -> None:
        """Act on the state of the command; the launcher calls this method several times a second."""

    def signalled(self, number: int) -> None:
        """Act on a signal that the command got, from the launcher or from elsewhere."""


def run(
    command: list[str], parts: Path, options: Mapping[str, str], front: Front, during: During | None = None
) -> Launched:
    """Run ``command`` with the hook in its Pythons; each writes a file into the folder ``parts``.

    From its end on, only Ctrl-C interrupts this process. CommandError (126 or 127) if it cannot be started, and
    InterruptError if Ctrl-C came before.
    """
    lines = (f"{name}\t{value}\n" for name, value in options.items())
    (parts / OPTIONS_FILE).write_text("".join(lines), encoding="utf-8")
    launched = Launched()
    # Passed on, an earlier Ctrl-C would reach the command in the midst of its start-up.
    if signal.SIGINT in signal.sigpending() and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        raise InterruptError("interrupted")
    with _spawn(command, _environment(parts), front) as process:  # and wait for the process even if we fail
        if is_python(command[0]):
            launched.pythons[process.pid] = ProcessSighting(command)
        launched.code = process.returncode = _Watch(process.pid, front, launched, during).until_it_ends()
    launched.interrupted |= signal.sigtimedwait({signal.SIGINT}, 0) is not None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return launched


def lacks_room(parts: Path) -> bool:
    """Return whether the disk is full, so that processes may not have written all that they recorded."""
    try:
        with tempfile.TemporaryFile(dir=parts, buffering=0) as probe:
            return probe.write(bytes(_BLOCK)) < _BLOCK
    except OSError as error:
        return error.errno in {errno.ENOSPC, errno.EDQUOT}


def remove_parts(parts: Path) -> bool:
    """Remove what an earlier `run` left in a folder, and only that; False if none filled the folder."""
    try:
        with open_file(parts / OPTIONS_FILE) as options:
            if options.read(len(_OPTIONS_START)) != _OPTIONS_START:
                return False
    except OSError:
        return False
    for path in (*parts.glob("[0-9]*-[0-9]*.jsonl*"), parts / TABLE_FILE, parts / OPTIONS_FILE):
        path.unlink(missing_ok=True)
    return True


def _environment(parts: Path) -> dict[str, str]:
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HOOK_FOLDER), path] if path else [str(HOOK_FOLDER)]),
        "SYNCSCAN_TRACE": str(parts),
    }


def _spawn(command: list[str], environment: dict[str, str], front: Front) -> subprocess.Popen[bytes]:
    """Start the command with the caller's descriptors and signals; restore the signals that Python ignores."""
    try:
        return subprocess.Popen(
            command,
            env=environment,
            close_fds=False,
            preexec_fn=front.give_back,  # noqa: PLW1509 (there is one thread)
        )
    except FileNotFoundError:
        raise CommandError(f"{command[0]}: command not found", EXIT_NOT_FOUND) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"{command[0]}: cannot be executed: {reason}", EXIT_NOT_EXECUTABLE) from None


class _Watch:
    """The watch of a command: passes signals on, follows its stops, and notes the Python processes below."""

    def __init__(self, command: int, front: Front, launched: Launched, during: During | None) -> None:
        self._command = command
        self._front = front
        self._launched = launched
        self._during = during
        self._arrivals = Arrivals()
        self._started = self._drained = time.monotonic()
        self._next_look = self._next_ask = 0.0
        self._reported_until = 0.0  # all signals that reached the front by then have been reported
        self._asked_about = float("inf")  # the arrival time of the earliest signal in question
        self._stopped = False
        self._front_stopped = False

    def until_it_ends(self) -> int:
        """Return the exit status at the command's end, or -n if signal n ended the command."""
        while (code := self._follow()) is None:
            if time.monotonic() >= self._next_look:
                self._look()
            due = max(self._arrivals.next_due, self._next_ask)
            self._receive(min(self._next_look, due) - time.monotonic())
            self._ask_if_due()
            for sent in self._arrivals.settle(self._reported_until):
                self._pass_on(sent)
        return code

    def _follow(self) -> int | None:
        """Stop and continue with the command; return its exit status once the command has ended."""
        while True:
            changed, status = os.waitpid(self._command, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if not changed:
                return None
            if os.WIFSTOPPED(status):
                self._stopped = True
                if is_stopped(self._command) and not self._front.stopped:
                    self._front.take(os.WSTOPSIG(status))
                continue
            if self._stopped:
                self._stopped = False
                self._front.resume()
            if not os.WIFCONTINUED(status):
                return os.waitstatus_to_exitcode(status)

    def _look(self) -> None:
        self._next_look = time.monotonic() + POLL_SECONDS
        _look_at_descendants(self._command, self._launched.pythons)
        if self._during is not None:
            self._during.look(self._launched)
        if self._front.gone:
            os.kill(self._command, signal.SIGKILL)
        stopped = self._front.stopped and not self._stopped
        if stopped and self._front_stopped:  # not only as long as a signal to the whole group takes
            os.kill(self._command, signal.SIGSTOP)
        self._front_stopped = stopped

    def _receive(self, timeout: float) -> None:
        """Wait for a signal or a message of the front, and take all pending ones."""
        received = signal.sigtimedwait(AWAITED, max(timeout, 0))
        while received is not None:
            if received.si_signo != signal.SIGCHLD and received.si_pid != self._front.pid:
                self._note(received.si_signo, self._drained, time.monotonic(), at_front=False)
            received = signal.sigtimedwait(AWAITED, 0)
        self._drained = time.monotonic()
        for number, when in self._front.arrived():
            if number == ALL_REPORTED:
                self._reported_until, self._asked_about, self._next_ask = when, float("inf"), 0.0
            else:
                self._note(number, min(when, self._asked_about), when, at_front=True)

    def _note(self, number: int, since: float, until: float, *, at_front: bool) -> None:
        self._launched.interrupted |= number == signal.SIGINT
        self._arrivals.add(number, since, until, at_front=at_front)

    def _ask_if_due(self) -> None:
        """Receive the front's pending reports before a signal counts as sent to a single process."""
        due = self._arrivals.next_due
        if max(due, self._next_ask) > self._drained:
            return
        if self._front.stopped or self._front.gone:
            self._reported_until = self._drained
        else:
            self._asked_about, self._next_ask = min(due, self._asked_about), self._drained + POLL_SECONDS
            self._front.ask()

    def _pass_on(self, sent: Sent) -> None:
        if self._during is not None:
            self._during.signalled(sent.number)
        with contextlib.suppress(PermissionError):  # the command runs as another user by now
            if not sent.to_all or sent.when < self._started:
                os.kill(self._command, sent.number)
            elif self._front.leads and os.getpgid(self._command) == self._command:
                # The command leads a process group of its own, to which the signal would have gone.
                os.killpg(self._command, sent.number)


def _look_at_descendants(pid: int, pythons: dict[int, ProcessSighting]) -> None:
    for child in _family(pid):
        argv = _command_line(child)
        if not argv:  # no Python, or one that is just starting or ending
            continue
        if child in pythons:
            pythons[child].times += 1
            pythons[child].argv = argv
        else:
            pythons[child] = ProcessSighting(argv)


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    found = [pid]
    while found:
        yield (parent := found.pop())
        with contextlib.suppress(OSError):  # it has just ended
            for thread in Path(f"/proc/{parent}/task").iterdir():
                found += _children(thread)


def _children(thread: Path) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(number) for number in (thread / "children").read_text(encoding="ascii").split()]
    return []


def _command_line(pid: int) -> list[str] | None:
    """Return the arguments of a process if the process runs Python, else None."""
    try:
        if not is_python(str(Path(f"/proc/{pid}/exe").readlink())):
            return None
        return [os.fsdecode(part) for part in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]]
    except OSError:  # it has just ended, or it is another user's
        return None


def why_unhooked(sighting: ProcessSighting, launched: Launched) -> str | None:
    """Return the reason why a Python process without a file was not hooked; None for a short fork."""
    for argument in sighting.argv[1:]:
        if not argument.startswith("-") or argument.startswith("--"):
            break
        letters = re.split(r"[cmWX]", argument[1:])[0]
        for letter, effect in _ISOLATING.items():
            if letter in letters:
                return f"-{letter} {effect}"
        if len(letters) < len(argument) - 1:
            break
    if sighting.times == 1:
        return None
    if launched.interrupted or launched.code < 0:
        return "a signal interrupted its start-up, or its environment leaves out the hook"
    return "its environment or its start-up leaves out the hook"


_ISOLATING = {"I": "ignores PYTHONPATH", "E": "ignores PYTHONPATH", "S": "starts without sitecustomize"}
