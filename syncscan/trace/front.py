"""The process that the caller started, and behind it the one that traces.

A trace is two processes of the caller's process group. The front has the pid that the caller knows. Its
child starts the command, watches it and makes the report. A signal to one of the two is for the
command, and a signal to both reached the command too: see `arrivals`. Whatever stops or ends the
command, the front does to itself, so that a shell sees what it would see of the command.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from syncscan.errors import EXIT_ERROR, SyncscanError

PASSED_ON = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
AWAITED = {*PASSED_ON, signal.SIGCHLD}
ALL_REPORTED = 0  # the number of no signal: asks the front to report all signals that reached the front, and confirms the report
_MESSAGE = struct.Struct("=Bd")


class Front:
    """The front, as the process behind the front sees the front."""

    def __init__(self, pid: int, end: socket.socket, give_back: Callable[[], None]) -> None:
        self.pid = pid
        self.give_back = give_back  # restores what the caller blocked and ignored, for the command
        self._end = end

    @property
    def gone(self) -> bool:
        """Return whether the front was killed."""
        return os.getppid() != self.pid

    @property
    def stopped(self) -> bool:
        """Return whether the front is stopped, as by SIGSTOP, which nothing can pass on."""
        return is_stopped(self.pid)

    @property
    def leads(self) -> bool:
        """Return whether the front leads its process group, as a command that a shell started does."""
        with contextlib.suppress(ProcessLookupError):
            return os.getpgid(self.pid) == self.pid
        return False

    def arrived(self) -> list[tuple[int, float]]:
        """Return the signals reported since the last call, each with its time; `ALL_REPORTED` with the time of an `ask`."""
        return list(_messages(self._end))

    def ask(self) -> None:
        """Request the report of all signals that reached the front: without a processor, the front reports late."""
        _tell(self._end, self.pid if not self.gone else None, ALL_REPORTED)

    def take(self, number: int) -> None:
        """Stop or end the front by the signal that stopped or ended the command."""
        _tell(self._end, self.pid if not self.gone else None, number)

    def resume(self) -> None:
        """Continue the front, if the front was stopped."""
        if not self.gone:
            os.kill(self.pid, signal.SIGCONT)


def step_behind() -> Front:
    """Put this process in front and go on in a child; all signals are blocked there from now on.

    It returns in the child alone. SyncscanError if the system has no `sigtimedwait`.
    """
    if not hasattr(signal, "sigtimedwait"):
        raise SyncscanError("`syncscan trace` runs on Linux only")
    of_children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else children lose their status
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)

    def give_back() -> None:
        signal.signal(signal.SIGCHLD, of_children)
        # Between fork and exec a signal must find no handler of Python's, which would raise in the midst of `Popen`.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    front, behind = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.getpid()
    child = os.fork()
    if not child:
        front.close()
        return Front(pid, behind, give_back)
    try:
        behind.close()
        _stand_in_front(child, front)
    finally:
        os._exit(EXIT_ERROR)  # nothing of what is behind is to run twice


def _stand_in_front(child: int, end: socket.socket) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump is the command's
    while True:
        received = signal.sigwaitinfo(AWAITED)
        if received.si_signo != signal.SIGCHLD:
            _pass_behind(received, end, child)
            continue
        for taken, when in _messages(end):
            if taken == ALL_REPORTED:
                _pass_all_behind(end, child)
                _tell(end, child, ALL_REPORTED, when)
            else:
                _do_to_itself(taken, end, child)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                _do_to_itself(-code, end, child)
            os._exit(code if code >= 0 else 128 - code)


def _pass_behind(received: signal.struct_siginfo, end: socket.socket, child: int) -> None:
    if received.si_pid != child:
        _tell(end, child, received.si_signo)
    if received.si_signo == signal.SIGCONT:  # the child may be stopped with the group, or be about to be
        os.kill(child, signal.SIGCONT)


def _pass_all_behind(end: socket.socket, child: int) -> None:
    while (waiting := signal.sigtimedwait(PASSED_ON, 0)) is not None:
        _pass_behind(waiting, end, child)


def _do_to_itself(number: int, end: socket.socket, child: int) -> None:
    """Stop or end by a signal, as its default is; where it does neither, as in the first process, return."""
    _pass_all_behind(end, child)  # a stop would drop a SIGCONT
    if number in PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped, and not by a debugger; False if there is none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].startswith("T")
    return False


def _tell(end: socket.socket, pid: int | None, number: int, when: float | None = None) -> None:
    """Send a signal's number to the process at the other end, and wake that process if alive."""
    with contextlib.suppress(OSError):
        message = _MESSAGE.pack(number, time.monotonic() if when is None else when)
        end.send(message, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        if pid is not None:
            os.kill(pid, signal.SIGCHLD)


def _messages(end: socket.socket) -> Iterator[tuple[int, float]]:
    with contextlib.suppress(OSError):
        while message := end.recv(_MESSAGE.size, socket.MSG_DONTWAIT):
            yield _MESSAGE.unpack(message)
