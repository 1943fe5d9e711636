"""Signals, job control and endings: the program gets what it would get alone, once, and the caller sees the same."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.foreground import foreground, wait_until

ROOT = Path(__file__).parents[2]
LAST = signal.SIGRTMAX
SENT = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT, signal.SIGCHLD, LAST}

# Takes every signal as it comes; what is passed on comes in the order in which it was sent.
COLLECTS = f"""
    import os, signal
    signals = signal.valid_signals()
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    print("ready", os.getpid(), os.getppid(), flush=True)
    while (number := signal.sigwait(signals)) != {int(LAST)}:
        print(int(number), flush=True)
"""
# As a training loop saves its state: interrupted once, it waits for USR1 before it is done.
SAVES = """
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        print("ready", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        print("saving", flush=True)
        signal.sigwait({signal.SIGUSR1})
        print("saved", flush=True)
"""


@pytest.fixture
def command(program, environment, tmp_path):
    """The command line that traces a program given as text, or a list of arguments."""
    (tmp_path / "temporary").mkdir()
    environment["TMPDIR"] = str(tmp_path / "temporary")

    def make(source: str | list[str], *options: object) -> list[str]:
        arguments = [sys.executable, str(program(source))] if isinstance(source, str) else source
        return [sys.executable, "-m", "syncscan", "trace", *map(str, options), "--", *arguments]

    return make


@pytest.fixture
def start(command, environment, tmp_path):
    """Starts the trace of a program in a process group of its own, as a shell does, and reads its first line."""

    @contextmanager
    def run(
        source: str | list[str], *options: object, line: str = "ready"
    ) -> Iterator[subprocess.Popen[str]]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with (
            subprocess.Popen(
                command(source, *options),
                env=environment,
                cwd=tmp_path,
                text=True,
                preexec_fn=foreground,
                **pipes,
            ) as process,
            not_for_ever(process),
        ):
            words = process.stdout.readline().split()
            assert words[:1] == [line]
            process.pids = [int(word) for word in words[1:]]
            yield process

    return run


@contextmanager
def not_for_ever(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process, its group, and those that it told of where a test fails, or hangs."""
    process.pids = []

    def kill() -> None:
        for send, pid in ((os.killpg, process.pid), *((os.kill, pid) for pid in process.pids)):
            with suppress(ProcessLookupError):
                send(pid, signal.SIGKILL)

    alarm = threading.Timer(120, kill)
    alarm.start()
    try:
        yield
        assert not alarm.finished.is_set(), "it hung"
    except BaseException:
        kill()
        raise
    finally:
        alarm.cancel()


def left_in(folder: Path) -> list[Path]:
    return list((folder / "temporary").iterdir())


def to_the_group(process, number):
    os.killpg(process.pid, number)


def to_the_launcher(process, number):
    os.kill(process.pid, number)


def to_each_process(process, number):
    """As systemd and Slurm do it: every process of a job, one by one."""
    for pid in (process.pid, *reversed(process.pids)):
        os.kill(pid, number)


WAYS: list[Callable[[subprocess.Popen[str], int], None]] = [to_the_group, to_the_launcher, to_each_process]


@pytest.mark.parametrize("send", WAYS)
def test_every_signal_reaches_the_program_once(start, tmp_path, send):
    with start(COLLECTS) as process:
        for number in SENT:
            send(process, number)
        got = [int(process.stdout.readline()) for _ in SENT]
        send(process, signal.SIGCONT)  # apart: the kernel takes back the stop signals that wait
        got.append(int(process.stdout.readline()))
        to_the_launcher(process, LAST)
        out, err = process.communicate()
    assert (sorted(got), out) == (sorted([*SENT, signal.SIGCONT]), "")
    assert (process.returncode, left_in(tmp_path)) == (0, []), err


def test_a_signal_for_all_reaches_the_program_once_while_the_front_waits_for_the_processor(start):
    with start(COLLECTS) as process:
        with held(process.pid):
            to_the_group(process, signal.SIGUSR1)
            assert process.stdout.readline() == f"{int(signal.SIGUSR1)}\n"
            asked_what_reached_it = signal.SIGCHLD
            wait_until(process.pid, lambda: asked_what_reached_it in pending_in(process.pid))
        to_the_launcher(process, LAST)
        assert process.communicate()[0] == ""
    assert process.returncode == 0


@contextmanager
def held(pid: int) -> Iterator[None]:
    """Let a child do nothing for a while, as where others have the processors, and not as by SIGSTOP."""
    seize, interrupt, detach, all_kinds = 0x4206, 0x4207, 17, 0x40000000  # of ptrace(2)
    ptrace = ctypes.CDLL(None).ptrace
    if ptrace(seize, pid, None, None):
        pytest.skip("no process may hold another here")
    ptrace(interrupt, pid, None, None)
    os.waitpid(pid, all_kinds)
    try:
        yield
    finally:
        ptrace(detach, pid, None, None)


def pending_in(pid: int) -> set[int]:
    """The signals that wait for a process."""
    mask = int(Path(f"/proc/{pid}/status").read_text().partition("\nShdPnd:")[2].split()[0], 16)
    return {number for number in signal.valid_signals() if mask >> (number - 1) & 1}


@pytest.mark.parametrize("send", WAYS[:2])
def test_an_interrupted_program_saves_its_state_as_alone(start, send):
    with start(SAVES) as process:
        send(process, signal.SIGINT)
        assert process.stdout.readline() == "saving\n"
        to_the_launcher(process, signal.SIGUSR1)
        out, _ = process.communicate()
    assert (process.returncode, out) == (0, "saved\n")


@pytest.mark.parametrize("send", WAYS[:2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGSEGV, LAST])
def test_a_program_that_a_signal_ends_ends_the_same_for_the_caller(start, tmp_path, number, send):
    """Also for a shell that runs a loop: it goes on after a command that ends with 130, and not after SIGINT."""
    with start("import signal\nprint('ready', flush=True)\nsignal.pause()\n", "-o", "trace") as process:
        send(process, number)
        _, err = process.communicate()
    assert process.returncode == -number
    assert f"ended with exit status {128 + number}\n" in err
    assert json.loads((tmp_path / "trace" / "trace.json").read_text())["exit_status"] == 128 + number


def test_the_launcher_leaves_no_core_dump(command, environment, tmp_path):
    """The one of the program is enough."""
    core = (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2
    source = "import os, resource, signal\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.kill(0, signal.SIGSEGV)\n"
    process = subprocess.Popen(
        command(source),
        env=environment,
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: (foreground(), resource.setrlimit(resource.RLIMIT_CORE, core)),
    )
    _, status = os.waitpid(process.pid, 0)
    process.returncode = 0
    assert (os.WTERMSIG(status), os.WCOREDUMP(status)) == (signal.SIGSEGV, False)


def test_ctrl_c_interrupts_a_report(command, environment):
    """One that nobody reads, so that it is surely still being printed."""
    with (
        subprocess.Popen(
            command(["sh", "-c", "exit 0", "x" * 120_000], "--output-format", "json"),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=foreground,
        ) as process,
        not_for_ever(process),
    ):
        wait_until(process.pid, lambda: any(waits_to_write(pid) for pid in children_of(process.pid)))
        to_the_group(process, signal.SIGINT)
        assert process.stderr.readline() == "syncscan: interrupted\n"
        process.communicate()
    assert process.returncode == 130


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def waits_to_write(pid: str) -> bool:
    return Path(f"/proc/{pid}/wchan").read_text() in {"pipe_write", "anon_pipe_write"}


def test_a_killed_launcher_takes_the_program_with_it_and_leaves_nothing(start, tmp_path):
    """As if the program itself had been killed, which is what `subprocess.run(timeout=...)` means to do."""
    with start("import os, signal\nprint('ready', os.getpid(), flush=True)\nsignal.pause()\n") as process:
        process.kill()
        _, err = process.communicate()  # until nobody has the pipe
        assert process.returncode == -signal.SIGKILL
        assert err.endswith("ended with exit status 137\n")
        with pytest.raises(ProcessLookupError):
            os.kill(process.pids[0], 0)
    assert left_in(tmp_path) == []


def test_a_program_outlives_the_process_that_watches_it(start, tmp_path, environment):
    source = """
        import os, signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        print("ready", os.getpid(), os.getppid(), flush=True)
        signal.sigwait({signal.SIGUSR1})
        import torch
        torch.zeros(1).item()
        print("done")
    """
    with start(source, "-o", "trace") as process:
        program, watcher = process.pids
        os.kill(watcher, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        os.kill(program, signal.SIGUSR1)
        assert process.stdout.read() == "done\n"
    report = [sys.executable, "-m", "syncscan", "trace", "report", "trace"]
    done = subprocess.run(report, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "was blocked 1 time at 1 site" in done.stdout


WAITS = """
    import os, signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCONT, signal.SIGUSR1})
    print("ready", os.getpid(), flush=True)
    while (number := signal.sigwait({signal.SIGCONT, signal.SIGUSR1})) == signal.SIGCONT:
        print("continued", flush=True)
"""


@pytest.mark.parametrize("resume", WAYS[:2])
@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGTTIN, signal.SIGSTOP])
def test_a_shell_sees_the_program_stop_and_go_on(start, number, resume):
    with start(WAITS) as process:
        os.kill(process.pids[0], number)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert (os.WIFSTOPPED(status), os.WSTOPSIG(status)) == (True, number)
        resume(process, signal.SIGCONT)
        _, status = os.waitpid(process.pid, os.WCONTINUED)
        assert os.WIFCONTINUED(status)
        assert process.stdout.readline() == "continued\n"
        to_the_launcher(process, signal.SIGUSR1)
        assert process.communicate()[0] == ""
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_a_stopped_launcher_stops_the_program(start, number):
    with start(WAITS) as process:
        to_the_launcher(process, number)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert (os.WIFSTOPPED(status), os.WSTOPSIG(status)) == (True, number)
        wait_until(process.pid, lambda: state_of(process.pids[0]) == "T")
        to_the_launcher(process, signal.SIGCONT)
        assert process.stdout.readline() == "continued\n"
        to_the_launcher(process, signal.SIGUSR1)
        assert process.communicate()[0] == ""
    assert process.returncode == 0


def test_a_front_that_is_to_stop_keeps_what_continues_it(environment):
    """Both wait for it while it is stopped, and the kernel hands out the one of the lower number first."""
    source = """
        import os, signal, subprocess
        from syncscan.trace.front import step_behind

        front = step_behind()

        def until_it_stops():
            arrived = []
            while not front.stopped:
                arrived += front.arrived()
            return [number for number, when in arrived + front.arrived()]

        os.kill(front.pid, signal.SIGSTOP)
        until_it_stops()
        front.take(signal.SIGSTOP)
        subprocess.run(["kill", "-CONT", str(front.pid)], check=True)
        print(until_it_stops(), flush=True)
        front.resume()
    """
    with (
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(source)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=foreground,
        ) as process,
        not_for_ever(process),
    ):
        assert process.communicate()[0] == f"[{int(signal.SIGCONT)}]\n"
    assert process.returncode == 0


@pytest.mark.parametrize("resume", WAYS[:2])
def test_all_stopped_go_on_again(start, resume):
    """As by `kill -STOP %1`; what continues one process need not continue the other."""
    with start(WAITS) as process:
        to_the_group(process, signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        resume(process, signal.SIGCONT)
        assert process.stdout.readline() == "continued\n"
        to_the_launcher(process, signal.SIGUSR1)
        assert process.communicate()[0] == ""
    assert process.returncode == 0


def test_a_launcher_goes_on_with_a_program_that_another_process_stopped_and_continued(start):
    with start(WAITS) as process:
        os.kill(process.pids[0], signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        os.kill(process.pids[0], signal.SIGCONT)
        _, status = os.waitpid(process.pid, os.WCONTINUED)
        assert os.WIFCONTINUED(status)
        assert process.stdout.readline() == "continued\n"
        os.kill(process.pids[0], signal.SIGUSR1)
        assert process.communicate()[0] == ""
    assert process.returncode == 0


def test_a_program_killed_while_it_is_stopped_ends_the_launcher(start):
    with start(WAITS) as process:
        os.kill(process.pids[0], signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        os.kill(process.pids[0], signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def state_of(pid: int) -> str:
    """The state of a process as Linux abbreviates it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def test_a_program_in_a_group_of_its_own_gets_what_is_for_the_group_that_it_would_lead_alone(start):
    """`os.setpgid(0, 0)` does nothing in a program that a shell started, since it leads its group already."""
    with start("import os\nos.setpgid(0, 0)\n" + textwrap.dedent(COLLECTS)) as process:
        to_the_group(process, signal.SIGINT)
        assert process.stdout.readline() == f"{int(signal.SIGINT)}\n"
        to_the_launcher(process, LAST)
        assert process.communicate()[0] == ""


@pytest.mark.parametrize(
    ("ignored", "blocked"),
    [
        ([], []),
        ([signal.SIGINT, signal.SIGHUP, signal.SIGQUIT], []),  # `nohup ... &` in a script
        ([signal.SIGCHLD], [signal.SIGUSR1, signal.SIGCHLD]),
    ],
)
def test_the_program_inherits_what_is_ignored_and_blocked(command, environment, ignored, blocked):
    def prepare():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, blocked)

    def seen(arguments: list[str]) -> str:
        done = subprocess.run(
            arguments, env=environment, capture_output=True, text=True, check=True, preexec_fn=prepare
        )
        return done.stdout

    alone = seen(["grep", "Sig[BI]", "/proc/self/status"])
    assert seen(command(["grep", "Sig[BI]", "/proc/self/status"])) == alone


def test_a_reader_that_leaves_ends_a_writer_as_alone(command, environment):
    line = "yes | head -1; echo ${PIPESTATUS[@]}"
    done = subprocess.run(
        command(["bash", "-c", line]), env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "y\n141 0\n"


def test_a_caller_that_ignores_the_end_of_children_gets_the_status(command, environment):
    done = subprocess.run(
        command(["sh", "-c", "exit 3"]),
        env=environment,
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert done.returncode == 3


AT_FORK = """
    import os, signal, sys

    forks = 0
    def interrupt():  # runs in each child; the second fork starts the command
        global forks
        forks += 1
        if forks == {at}:
            os.kill(os.getpid(), signal.SIGINT)
    os.register_at_fork(after_in_child=interrupt)
    from syncscan.cli import main

    sys.argv = ["syncscan", "trace", "--", sys.executable, "-c", "print('ran')"]
    main()
"""


@pytest.mark.parametrize(
    ("at", "status", "told"),
    [
        (1, 130, "syncscan: interrupted\n"),
        (
            2,
            -2,
            "syncscan: nothing was traced: no Python process was hooked\n",
        ),
    ],
    ids=["before-the-fork", "before-the-exec"],
)
def test_ctrl_c_while_the_command_is_started_interrupts_it(environment, at, status, told):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AT_FORK.format(at=at))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=foreground,
    )
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.startswith(told)


def test_ctrl_c_in_the_start_up_of_a_python_is_no_fault_of_its_environment(command, environment, tmp_path):
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "interrupt.pth").write_text("import os, signal; os.killpg(0, signal.SIGINT)\n")
    python = [str(tmp_path / "venv" / "bin" / "python"), "-c", "print('ran')"]
    alone, traced = (
        subprocess.run(
            line, env=environment, capture_output=True, text=True, check=False, preexec_fn=foreground
        )
        for line in (python, command(python))
    )
    assert (traced.returncode, traced.stdout) == (alone.returncode, "")
    assert "nothing was traced: no Python process was hooked" in traced.stderr
    assert "its environment or its start-up leaves out the hook" not in traced.stderr
