"""A trace in the terminal of an interactive shell: interrupted, stopped, continued, resized."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import shutil
import signal
import struct
import sys
import termios

import pytest

from tests.foreground import interruptible

PROMPT = "shell> "
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash, for its job control")


class Terminal:
    """An interactive shell, as a user sits before it."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._text = ""

    def type(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def read_until(self, text: str) -> str:
        """What it shows from here up to a text."""
        while text not in self._text:
            shown, _, _ = select.select([self._leader], [], [], 120)
            assert shown, f"it hung after {self._text!r}"
            self._text += os.read(self._leader, 65536).decode().replace("\r\n", "\n")
        shown, _, self._text = self._text.partition(text)
        return shown

    def run(self, line: str) -> str:
        """Run one short command, and return what it printed."""
        self.type(f"{line}\n")
        self.read_until(f"{line}\n")
        return self.read_until(PROMPT)

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


@pytest.fixture
def terminal(environment, tmp_path):
    pid, leader = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        interruptible()
        variables = {**environment, "PS1": PROMPT, "TERM": "dumb", "HISTFILE": ""}
        os.execve(BASH, ["bash", "--noprofile", "--norc", "--noediting", "-i"], variables)
    terminal = Terminal(leader)
    terminal.read_until(PROMPT)
    yield terminal
    os.close(leader)  # the shell and its jobs are told that the terminal is gone
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@pytest.fixture
def traced(program):
    """The command line that traces a program given as text."""

    def make(source: str, *options: str) -> str:
        command = [
            sys.executable,
            "-m",
            "syncscan",
            "trace",
            *options,
            "--",
            sys.executable,
            str(program(source)),
        ]
        return shlex.join(command)

    return make


READS = "print('ready', flush=True)\nprint('read', input(), flush=True)\n"


def test_ctrl_c_interrupts_the_program_once(terminal, traced):
    source = """
        import signal
        try:
            print("ready", flush=True)
            signal.pause()
        except KeyboardInterrupt:
            print("saving", flush=True)
            print("saved", input(), flush=True)
    """
    terminal.type(traced(source) + "\n")
    terminal.read_until("ready\n")
    terminal.type("\x03")
    terminal.read_until("saving\n")
    terminal.type("typed\n")
    terminal.read_until("saved typed\n")
    assert "ended with exit status 0\n" in terminal.read_until(PROMPT)
    assert terminal.run("echo $?") == "0\n"


def test_ctrl_c_ends_a_loop_of_the_shell(terminal, traced):
    command = traced("import signal\nprint('ready', flush=True)\nsignal.pause()\n")
    terminal.type(f"for number in 1 2; do {command}; done\n")
    terminal.read_until("ready\n")
    terminal.type("\x03")
    shown = terminal.read_until(PROMPT)
    assert "ended with exit status 130\n" in shown
    assert "ready\n" not in shown
    assert terminal.run("echo $?") == "130\n"


def test_ctrl_z_stops_the_job_and_fg_goes_on_with_it(terminal, traced):
    terminal.type(traced(READS) + "\n")
    terminal.read_until("ready\n")
    terminal.type("\x1a")
    assert "Stopped   " in terminal.read_until(PROMPT)
    terminal.type("fg\n")
    terminal.read_until("program.py\n")
    terminal.type("typed\n")
    terminal.read_until("read typed\n")
    assert "ended with exit status 0\n" in terminal.read_until(PROMPT)


def test_a_background_job_that_reads_is_stopped_and_told_so(terminal, traced):
    terminal.type(traced(READS) + " &\n")
    terminal.read_until("ready\n")
    assert "Stopped   " in terminal.run("wait -f; jobs")
    terminal.type("fg\n")
    terminal.read_until("program.py\n")
    terminal.type("typed\n")
    terminal.read_until("read typed\n")
    terminal.read_until(PROMPT)


def test_the_program_is_told_the_size_of_the_window(terminal, traced):
    source = """
        import os, signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
        print("ready", flush=True)
        signal.sigwait({signal.SIGWINCH})
        print(*os.get_terminal_size(), flush=True)
    """
    terminal.type(traced(source) + "\n")
    terminal.read_until("ready\n")
    terminal.resize(lines=50, columns=132)
    terminal.read_until("132 50\n")
    terminal.read_until(PROMPT)


def test_what_waits_is_drawn_while_the_program_runs(terminal, traced):
    source = "import torch\ntorch.zeros(1).item()\nprint('ready', flush=True)\nprint('read', input(), flush=True)\n"
    terminal.type(f"TERM=xterm {traced(source, '--live')}\n")
    terminal.read_until("was blocked 1 time at 1 site")
    terminal.type("typed\n")
    shown = terminal.read_until("ended with exit status 0\n")
    assert "was blocked 1 time at 1 site" in shown
    terminal.read_until(PROMPT)
    assert terminal.run("echo $?") == "0\n"
