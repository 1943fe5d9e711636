"""Starts the traced command, passes signals and the exit status through, and watches its descendants."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from syncscan.errors import EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND, SyncscanError
from syncscan.simulate.export import TABLE_FILE

HOOK_FOLDER = Path(__file__).parent / "hook"
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
POLL_SECONDS = 0.25
OPTIONS_FILE = "options"
_FROM_KERNEL = 0x80  # si_code of a signal that the terminal sent, to the child as well


class CommandError(SyncscanError):
    """The command could not be started."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


@dataclass
class Launched:
    """What the launcher saw: the exit status, and every Python process below the command by its pid."""

    status: int = 0
    pythons: dict[int, Sighting] = field(default_factory=dict)


@dataclass
class Sighting:
    """A Python process as the process table showed it."""

    argv: list[str]
    times: int = 1


def run(command: list[str], parts: Path, options: Mapping[str, str]) -> Launched:
    """Run ``command`` with the hook in its Pythons; each writes a file into the folder ``parts``.

    CommandError (126 or 127) if it cannot be started.
    """
    if not hasattr(signal, "sigtimedwait"):
        raise SyncscanError("`syncscan trace` runs on Linux only")
    lines = (f"{name}\t{value}\n" for name, value in options.items())
    (parts / OPTIONS_FILE).write_text("".join(lines), encoding="utf-8")
    waited = {*FORWARDED, signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    try:
        pid = _spawn(command, _environment(parts), mask)
        launched = Launched()
        if _looks_like_python(command[0]):
            launched.pythons[pid] = Sighting(command)
        launched.status = _wait(pid, waited, launched)
        return launched
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def remove_parts(parts: Path) -> bool:
    """Remove what an earlier `run` left in a folder, and only that; False if none filled the folder."""
    try:
        if not (parts / OPTIONS_FILE).read_bytes().startswith(b"detector\t"):
            return False
    except (FileNotFoundError, NotADirectoryError):
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


def _spawn(command: list[str], environment: dict[str, str], mask: set[int | signal.Signals]) -> int:
    try:
        return os.posix_spawnp(command[0], command, environment, setsigmask=mask)
    except FileNotFoundError:
        raise CommandError(f"{command[0]}: command not found", EXIT_NOT_FOUND) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"{command[0]}: cannot be executed: {reason}", EXIT_NOT_EXECUTABLE) from None


def _wait(pid: int, waited: set[signal.Signals], launched: Launched) -> int:
    """Wait for the child, passing signals on; returns its exit status as a shell would give it."""
    while True:
        _look_at_descendants(pid, launched.pythons)
        received = signal.sigtimedwait(waited, POLL_SECONDS)
        if received is not None and received.si_signo in FORWARDED and received.si_code != _FROM_KERNEL:
            os.kill(pid, received.si_signo)
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _look_at_descendants(pid: int, pythons: dict[int, Sighting]) -> None:
    for child in (pid, *_descendants(pid)):
        argv = _command_line(child)
        if not argv:  # no Python, or one that is just starting or ending
            continue
        if child in pythons:
            pythons[child].times += 1
            pythons[child].argv = argv
        else:
            pythons[child] = Sighting(argv)


def _descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            numbers = children.read_text(encoding="ascii").split()
        except OSError:  # it has just ended
            continue
        for number in map(int, numbers):
            yield number
            yield from _descendants(number)


def _command_line(pid: int) -> list[str] | None:
    """The arguments of a process if it runs Python, else None."""
    try:
        if not _looks_like_python(str(Path(f"/proc/{pid}/exe").readlink())):
            return None
        return [os.fsdecode(part) for part in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]]
    except OSError:  # it has just ended, or it is another user's
        return None


def _looks_like_python(program: str) -> bool:
    return re.fullmatch(r"python[\d.]*t?d?|pypy[\d.]*", Path(program).name) is not None


def why_unhooked(sighting: Sighting) -> str | None:
    """Why a Python process that left no file was not hooked; None if it may be a passing fork."""
    for argument in sighting.argv[1:]:
        if not argument.startswith("-") or argument.startswith("--"):
            break
        letters = re.split(r"[cmWX]", argument[1:])[0]
        for letter, effect in _ISOLATING.items():
            if letter in letters:
                return f"-{letter} {effect}"
        if len(letters) < len(argument) - 1:
            break
    return "its environment or its start-up leaves out the hook" if sighting.times > 1 else None


_ISOLATING = {"I": "ignores PYTHONPATH", "E": "ignores PYTHONPATH", "S": "starts without sitecustomize"}
