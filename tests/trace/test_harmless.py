"""The hook leaves the program's files, descriptors, signals and output alone, and still loses nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[2] / "syncscan" / "trace" / "hook"
USE = "import os, sys\nimport torch\nt = torch.zeros(1)\nt.item()\n"
FLUSH = "sys.modules['_syncscan_hook.start'].hook.flush()\n"
DATABASE = """\
def database():
    import sqlite3
    db = sqlite3.connect("x.db")
    db.execute("create table t (a)")
    db.execute("insert into t values ('mine')")
    db.commit()
    return db
def written():
    import sqlite3
    return sqlite3.connect("x.db").execute("select * from t").fetchall()
"""


def test_a_database_that_gets_a_low_descriptor_is_not_written_into_before_torch_is_imported(trace):
    done = trace(
        DATABASE
        + "import os\nos.closerange(3, 256)\ndb = database()\n"
        + USE
        + FLUSH
        + "db.close()\nprint(written())\n"
    )
    assert (done.status, done.stdout) == (0, "[('mine',)]\n")
    assert done.counts() == {"t.item()": 1}


def test_a_database_that_gets_a_low_descriptor_is_not_written_into_after_cuda_started(trace):
    done = trace(
        DATABASE
        + USE
        + FLUSH
        + "os.closerange(3, 256)\ndb = database()\n"
        + "t.item()\n"
        + FLUSH
        + "db.close()\nprint(written())\n"
    )
    assert (done.status, done.stdout) == (0, "[('mine',)]\n")
    assert done.counts() == {"t.item()": 2}


def test_what_the_program_puts_on_any_descriptor_stays_its_own(trace):
    """Sockets and files put by dup2 over every number that a data file could have."""
    done = trace(
        USE
        + """
import socket
ours, theirs = socket.socketpair()
for number in range(3, 40):
    if number not in (ours.fileno(), theirs.fileno()):
        os.dup2(ours.fileno(), number)
t.item()
"""
        + FLUSH
        + "theirs.setblocking(False)\n"
        + "try: print(theirs.recv(100))\nexcept BlockingIOError: print('nothing')\n"
    )
    assert (done.status, done.stdout) == (0, "nothing\n")
    assert done.counts() == {"t.item()": 2}


def test_standard_descriptors_that_are_closed_at_the_start_are_the_programs(run_trace, program, tmp_path):
    """What it opens gets 0, 1 and 2; a file of ours in their place would be written into."""
    script = program(
        "import os\nmine = [os.open(name, os.O_RDWR | os.O_CREAT) for name in ('a', 'b', 'c', 'd')]\n"
        + USE
        + FLUSH
        + "mine.append(os.open('e', os.O_RDWR | os.O_CREAT))\nos.write(mine[-1], str(mine).encode())\n"
    )
    done = run_trace(["sh", "-c", f"exec {sys.executable} {script} <&- >&- 2>&-"])
    assert done.status == 0
    assert [(tmp_path / name).read_text() for name in "abcde"] == ["", "", "", "", "[0, 1, 2, 3, 4]"]
    assert done.counts() == {"t.item()": 1}


def test_no_code_of_the_program_can_run_while_a_descriptor_of_ours_is_open(trace):
    """Else it could close the descriptor in the midst of a flush, and get its number for a file of its own."""
    done = trace(
        USE
        + """
calls, opened = [], []
def profile(frame, event, function):
    calls.append(getattr(function, "__name__", frame.f_code.co_name))
    for name in os.listdir("/proc/self/fd"):
        path = os.path.realpath("/proc/self/fd/" + name)
        if os.environ["SYNCSCAN_TRACE"] in path:
            opened.append(path)
flush = sys.modules["_syncscan_hook.start"].hook.flush
sys.setprofile(profile)
flush()
sys.setprofile(None)
print("flush" in calls, opened)
"""
    )
    assert (done.status, done.stdout) == (0, "True []\n")
    assert done.counts() == {"t.item()": 1}


def test_no_descriptor_is_held(trace):
    done = trace(
        "import os\nbefore = os.listdir('/proc/self/fd')\n"
        + USE
        + FLUSH
        + "print(set(os.listdir('/proc/self/fd')) ^ set(before))\n"
    )
    assert done.stdout == "set()\n"


def test_nothing_is_lost_while_no_descriptor_is_free(trace):
    done = trace(
        USE
        + """
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
t.tolist()
"""
        + FLUSH
        + "t.item()\n"
        + FLUSH
        + "resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        + "def last():\n    t.tolist()\nlast()\n"
        + FLUSH
        + "os.kill(os.getpid(), 9)\n"
    )
    assert done.status == 137
    assert sorted((s["expression"], s["function"], s["count"]) for s in done.sites) == [
        ("t.item()", "<module>", 1),
        ("t.item()", "<module>", 1),
        ("t.tolist()", "<module>", 1),
        ("t.tolist()", "last", 1),
    ]


def test_nothing_is_lost_when_the_disk_has_room_again(trace):
    """A limit on the size of files cuts a line in two, as a full disk does."""
    done = trace(
        USE
        + FLUSH
        + """
import glob, resource
(part,) = glob.glob(os.environ["SYNCSCAN_TRACE"] + "/*.jsonl")
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
limit(os.path.getsize(part) + 40)
t.tolist()
"""
        + FLUSH
        + FLUSH
        + "left = glob.glob(os.environ['SYNCSCAN_TRACE'] + '/*.new')\n"
        + "limit(resource.RLIM_INFINITY)\nt.item()\n"
        + FLUSH
        + "print(left, glob.glob(os.environ['SYNCSCAN_TRACE'] + '/*.new'), flush=True)\n"
        + "os.kill(os.getpid(), 9)\n"
    )
    assert (done.status, done.stdout) == (137, "[] []\n")
    assert done.counts() == {"t.item()": 2, "t.tolist()": 1}
    assert done.trace["processes"][0]["notes"] == []


def test_a_file_that_was_removed_does_not_come_back(trace):
    """The folder may have become that of another trace."""
    done = trace(
        USE
        + FLUSH
        + "import glob\n(part,) = glob.glob(os.environ['SYNCSCAN_TRACE'] + '/*.jsonl')\nos.unlink(part)\n"
        + "for _ in range(3):\n    t.item()\n    "
        + FLUSH
        + "print(glob.glob(part + '*'))\n"
    )
    assert (done.status, done.stdout) == (0, "[]\n")


@pytest.mark.parametrize("imports", ["import os", "import os, torch"])
def test_a_process_that_could_not_create_its_file_creates_it_later(trace, imports):
    done = trace(
        imports
        + """
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
if os.fork() == 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    import torch
    def child():
        torch.zeros(1).item()
    child()
    os._exit(0)
os.wait()
"""
    )
    assert [site["function"] for site in done.sites] == ["child"]
    assert [process["detectors"] for process in done.trace["processes"]] == [[], ["cupti"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root or its user")
@pytest.mark.parametrize(
    "change", ["os.mkdir('jail'); os.chroot('jail'); os.chdir('/')", "os.setuid(65534)", "os.chdir('/')"]
)
def test_a_program_that_leaves_the_folder_behind_goes_on(trace, change):
    done = trace(
        USE
        + FLUSH
        + "FLUSH = sys.modules['_syncscan_hook.start'].hook.flush\n"
        + change
        + "\nt.item()\nFLUSH()\n"
        + "if os.fork() == 0:\n    os._exit(5)\n"
        + "print(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    assert (done.status, done.stdout, "Traceback" in done.stderr) == (0, "5\n", False)
    assert done.counts()["t.item()"] >= 1


def test_a_defect_of_ours_is_told_in_the_report_and_not_on_the_programs_descriptors(trace, tmp_path):
    done = trace(
        USE
        + """
os.close(2)
mine = open("mine", "w")
sys.modules["_syncscan_hook.start"].hook.fail("on purpose")
"""
        + FLUSH
        + "print(mine.fileno(), flush=True)\n"
    )
    assert (done.status, done.stdout, (tmp_path / "mine").read_text()) == (0, "2\n", "")
    assert done.trace["processes"][0]["notes"] == ["tracing stops here: on purpose"]
    assert done.stderr.startswith("syncscan: the CPU was blocked")


def test_a_signal_that_the_program_waits_for_does_not_end_it(trace):
    done = trace(
        USE
        + """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait({signal.SIGUSR1}).name)
"""
    )
    assert (done.status, done.stdout) == (0, "SIGUSR1\n")


def test_a_signal_handler_in_the_midst_of_a_flush_does_not_wait_for_it(trace):
    done = trace(
        USE
        + """
import signal
sys.modules["_syncscan_hook.hook"].FLUSH_SECONDS = 1000
hook = sys.modules["_syncscan_hook.start"].hook
before = hook.recorder.digest
def digest():
    hook.recorder.digest = before
    signal.raise_signal(signal.SIGALRM)
signal.signal(signal.SIGALRM, lambda *_: print(hook.flush()))
hook.recorder.digest = digest
hook.flush()
"""
    )
    assert (done.status, done.stdout) == (0, "None\n")
    assert done.counts() == {"t.item()": 1}


def test_no_thread_is_left_when_the_interpreter_goes(trace):
    """It would be ended by force, which aborts a process that has no descriptor free for libgcc."""
    done = trace("""
        import _thread, sys
        import torch
        before = _thread._count()
        torch.zeros(1).item()
        hook = sys.modules["_syncscan_hook.start"].hook
        while _thread._count() == before:
            pass  # until the thread runs
        hook.end()
        print(_thread._count() - before)
    """)
    assert (done.status, done.stdout) == (0, "0\n")
    assert done.counts() == {"torch.zeros(1).item()": 1}


def test_a_fork_from_a_signal_handler_in_the_midst_of_a_flush_does_not_hang(trace):
    done = trace(
        USE
        + """
import signal
hook = sys.modules["_syncscan_hook.start"].hook
class Recorder(type(hook.recorder)):
    def digest(self):
        signal.raise_signal(signal.SIGUSR1)
def handler(*_):
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    print("forked")
signal.signal(signal.SIGUSR1, handler)
digest = hook.recorder.__class__
hook.recorder.__class__ = Recorder
hook.flush()
hook.recorder.__class__ = digest
"""
    )
    assert (done.status, done.stdout) == (0, "forked\n")
    assert done.counts() == {"t.item()": 1}


def environment_of_an_ended_trace(environment: dict[str, str], folder: Path) -> dict[str, str]:
    path = os.pathsep.join([str(HOOK), environment["PYTHONPATH"]])
    return {**environment, "PYTHONPATH": path, "SYNCSCAN_TRACE": str(folder)}


@pytest.mark.parametrize("state", ["gone", "a file", "unreadable", "nonsense", "not writable"])
def test_a_python_that_starts_when_the_trace_is_over_is_silent(environment, tmp_path, state):
    folder = tmp_path / "parts"
    if state == "a file":
        folder.write_text("")
    elif state != "gone":
        folder.mkdir()
    if state == "unreadable":
        (folder / "options").mkdir()
    elif state == "nonsense":
        (folder / "options").write_bytes(b"\xff\x00\n")
    elif state == "not writable":
        (folder / "options").write_text("detector\tauto\nstep\t\nwarmup\t0\n")
        folder.chmod(0o500)
    done = subprocess.run(
        [sys.executable, "-c", "import torch; torch.zeros(1).item(); print('done')"],
        capture_output=True,
        text=True,
        env=environment_of_an_ended_trace(environment, folder),
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_daemon_outlives_its_trace(program, tmp_path, environment):
    """It goes on, starts Pythons that are silent, and ends as it would alone."""
    program(
        """
        import os, subprocess, sys
        import torch
        if os.fork():
            os._exit(0)
        os.setsid()
        if os.fork():
            os._exit(0)
        os.closerange(0, 256)
        for name in ("in", "log", "log"):
            os.set_inheritable(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), True)
        open("go").read()  # until the trace is over
        t = torch.zeros(1)
        t.item()
        subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).item(); print('child')"])
        sys.modules["_syncscan_hook.start"].hook.flush()
        print("end", os.open("mine", os.O_RDWR | os.O_CREAT), flush=True)
        open("over", "w").close()
        """
    )
    os.mkfifo(tmp_path / "go")
    os.mkfifo(tmp_path / "over")

    def run(*command: str) -> int:
        return subprocess.run(
            command, cwd=tmp_path, env=environment, timeout=300, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ).returncode  # fmt: skip

    assert run(sys.executable, "-m", "syncscan", "trace", "--", sys.executable, "program.py") == 0
    assert run("sh", "-c", ": > go") == 0
    assert run("cat", "over") == 0
    assert [(tmp_path / name).read_text() for name in ("in", "log", "mine")] == ["", "child\nend 3\n", ""]
