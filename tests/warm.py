"""Runs syncscan in forks of one process that has imported it and read its tables, so that many runs share one start.

What a run can see of its start is as if it were alone: its folder, environment, arguments, standard streams and
process id. Tests of the start itself, of signals and of open descriptors start a process of their own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import resource
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TIMEOUT = 300.0
_MOST = 1 << 20  # bytes of a request


class Warm:
    """The process that has imported syncscan."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._socket = ours

    def run(
        self,
        *arguments: object,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        limits: Mapping[int, int] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Do what ``subprocess.run`` does with ``python -m syncscan`` and these arguments, and capture its text.

        ``limits`` are those of the module ``resource``.
        """
        words = ["syncscan", *map(str, arguments)]
        environment = dict(os.environ if env is None else env)
        request = json.dumps([words, str(cwd), environment, [*(limits or {}).items()]]).encode()
        assert len(request) < _MOST
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            socket.send_fds(self._socket, [request], [nothing.fileno(), out_end, err_end])
        os.close(out_end)
        os.close(err_end)
        pid = int(self._socket.recv(_MOST))
        try:
            stdout, stderr = _read((out, err), words, time.monotonic() + _TIMEOUT)
        except subprocess.TimeoutExpired:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            code = int(self._socket.recv(_MOST))
        return subprocess.CompletedProcess(words, code, stdout, stderr)

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()


def _read(ends: tuple[int, int], command: list[str], until: float) -> list[str]:
    """Read two pipes to their ends, and close them."""
    parts: dict[int, bytearray] = {end: bytearray() for end in ends}
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        for end in ends:
            stack.callback(os.close, end)
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(until - time.monotonic())
            if not ready:
                raise subprocess.TimeoutExpired(command, _TIMEOUT)
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                parts[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
    return [parts[end].decode().replace("\r\n", "\n") for end in ends]


def serve(end: socket.socket) -> None:
    """Fork for each request, and answer it with the pid and then with the exit status, or -n where signal n ended it."""
    import syncscan.commands  # noqa: PLC0415 (only this process imports it before it is asked to)
    from syncscan.cli import main  # noqa: PLC0415 (as above)
    from syncscan.ops import load_table, stubs  # noqa: PLC0415 (as above)
    from syncscan.rule import rule_book  # noqa: PLC0415 (as above)

    for module in pkgutil.iter_modules(syncscan.commands.__path__, "syncscan.commands."):
        importlib.import_module(module.name)
    rule_book()
    load_table()
    stubs.names()
    gc.freeze()  # a walk of the garbage collector would copy the memory that a fork shares
    while True:
        request, streams, _, _ = socket.recv_fds(end, _MOST, 3)
        if not request:
            return
        pid = os.fork()
        if not pid:
            end.close()
            _become(streams, *json.loads(request))
            os._exit(_status(main))
        for stream in streams:
            os.close(stream)
        end.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        end.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(
    streams: list[int], words: list[str], folder: str, environment: dict[str, str], limits: list[list[int]]
) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 (it stays open)
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 (it stays open)
    sys.stderr = open(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 (it stays open)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = words
    for kind, most in limits:
        resource.setrlimit(kind, (most, most))


def _status(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 1


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
