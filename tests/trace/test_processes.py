"""Every process is followed, however it starts and ends, and the command behaves as it would alone."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

UNTIL_SEEN = str(Path(__file__).with_name("until_seen.py"))
READ = "import torch\nt = torch.zeros(1)\nt.item()\n"


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("raise ValueError('on purpose')", 1),
        ("import os; os._exit(4)", 4),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 139),
    ],
)
def test_the_exit_status_passes_through_and_the_trace_is_whole(trace, ending, status):
    flush = "import sys; sys.modules['_syncscan_hook.start'].hook.flush()\n" if status > 128 else ""
    done = trace(READ + flush + ending + "\n")
    assert done.status == done.trace["exit_status"] == status
    assert done.counts() == {"t.item()": 1}


def test_a_killed_process_keeps_what_was_flushed(trace):
    done = trace("""
        import os, signal, sys
        import torch
        t = torch.zeros(1)
        for _ in range(5):
            t.item()
        sys.modules["_syncscan_hook.start"].hook.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert done.status == 137
    assert done.counts() == {"t.item()": 5}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_reach_the_command(trace, number):
    done = trace(f"""
        import os, signal, sys
        def leave(received, frame):
            print("got", received, flush=True)
            sys.exit(7)
        signal.signal({int(number)}, leave)
        os.kill(os.getppid(), {int(number)})
        signal.pause()
    """)
    assert (done.status, done.stdout) == (7, f"got {int(number)}\n")


def test_an_untouched_signal_ends_the_command_as_a_shell_reports_it(trace):
    done = trace("import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\nsignal.pause()\n")
    assert done.status == 128 + signal.SIGTERM


SPAWNS = {
    "subprocess": "subprocess.run([sys.executable, 'child.py'], check=True)",
    "shell": "subprocess.run(sys.executable + ' child.py', shell=True, check=True)",
    "system": "os.system(sys.executable + ' child.py')",
    "exec": "t.item(); os.execv(sys.executable, [sys.executable, 'child.py'])",
    "execvpe": "t.item(); os.execvpe(sys.executable, [sys.executable, 'child.py'], dict(os.environ))",
}


@pytest.mark.parametrize("way", SPAWNS)
def test_children_are_followed(trace, program, way):
    program("import torch\ntorch.zeros(2).item()\n", "child.py")
    done = trace(f"import os, subprocess, sys, torch\nt = torch.zeros(1)\n{SPAWNS[way]}\n")
    assert done.counts()["torch.zeros(2).item()"] == 1
    assert ("t.item()" in done.counts()) == way.startswith("exec")
    assert len([p for p in done.trace["processes"] if p["hooked"]]) == 2


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_is_followed(trace, method):
    done = trace(f"""
        import multiprocessing
        def work(number):
            import torch
            for _ in range(number):
                torch.zeros(1).item()
        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            children = [context.Process(target=work, args=(n,)) for n in (1, 2, 3)]
            for child in children: child.start()
            for child in children: child.join()
            work(4)
    """)
    assert done.counts() == {"torch.zeros(1).item()": 10}
    assert len([p for p in done.trace["processes"] if p["detectors"]]) == 4


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_pool_that_kills_its_workers_loses_no_simulated_wait(run_trace, program, environment, method):
    pytest.importorskip("torch")
    script = program(f"""
        import multiprocessing
        def work(number):
            import torch
            return torch.ones(number, device="cuda").sum().item()
        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                print(pool.map(work, range(8), chunksize=1))
    """)
    path = environment["PYTHONPATH"].rpartition(os.pathsep)[2]  # of the real torch
    done = run_trace([sys.executable, script], ("--simulate",), PYTHONPATH=path)
    assert done.stdout == "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]\n"
    assert sum(site["count"] for site in done.sites) == 8


@pytest.mark.parametrize("way", ["thread", "posix_spawn", "pass_fds"])
def test_other_ways_to_start_a_process_are_followed(trace, program, way):
    program("import torch\nt = torch.zeros(1)\nt.item()\n", "child.py")
    ways = {
        "thread": """
            def fork():
                if os.fork() == 0:
                    exec(open("child.py").read(), {"__name__": "child"})
                    os._exit(0)
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
            print(os.wait()[1])
        """,
        "posix_spawn": """
            os.posix_spawn(sys.executable, [sys.executable, "child.py"], os.environ)
            print(os.wait()[1])
        """,
        "pass_fds": """
            mine = os.open(os.devnull, os.O_RDONLY)
            done = subprocess.run([sys.executable, "child.py"], close_fds=True, pass_fds=[mine])
            print(done.returncode)
        """,
    }
    done = trace("import os, subprocess, sys, threading\n" + textwrap.dedent(ways[way]))
    assert done.stdout == "0\n"
    assert sum(site["count"] for site in done.sites) == 1
    assert len(done.trace["processes"]) == 2


def test_a_fork_before_cuda_counts_on_each_side(trace):
    done = trace("""
        import os
        import torch
        child = os.fork()
        t = torch.zeros(1)
        for _ in range(3 if child else 4):
            t.item()
        if child:
            os.wait()
    """)
    assert done.counts() == {"t.item()": 7}
    assert sorted(done.sites[0]["ranks"].values()) == [3, 4]


def test_a_fork_after_cuda_counts_nothing_twice(trace):
    done = trace("""
        import os
        import torch
        t = torch.zeros(1)
        t.item()
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        t.item()
    """)
    assert done.counts() == {"t.item()": 2}


def test_ranks_are_merged_and_compared(trace):
    done = trace("""
        import os, subprocess, sys
        if len(sys.argv) == 1:
            for rank in (0, 1):
                variables = {**os.environ, "RANK": str(rank)}
                subprocess.run([sys.executable, __file__, "x"], env=variables, check=True)
        else:
            import torch
            t = torch.zeros(1)
            t.item()
            if os.environ["RANK"] == "1":
                t.tolist()
    """)
    assert done.site("t.item()")["ranks"] == {"0": 1, "1": 1}
    assert done.site("t.tolist()")["ranks"] == {"1": 1}
    assert "ranks 0, 1" in done.stderr
    assert "1 on each of 2 ranks" in done.stderr
    assert "rank 1 only" in done.stderr


@pytest.mark.parametrize("flag", ["-I", "-S", "-E", "-Sc"])
def test_a_python_that_cannot_be_hooked_is_listed(run_trace, flag):
    command = [sys.executable, flag, "pass"] if flag.endswith("c") else [sys.executable, flag, "-c", "pass"]
    done = run_trace(command)
    (process,) = done.trace["processes"]
    assert process["hooked"] is False
    assert process["why"].startswith(flag[:2])
    assert "not hooked: process" in done.stderr


def test_a_descendant_that_cannot_be_hooked_is_listed(run_trace, program):
    script = program(f"""
        import subprocess, sys
        subprocess.run([sys.executable, "-I", {UNTIL_SEEN!r}])
    """)
    done = run_trace(["sh", "-c", f"{sys.executable} {script}"])
    assert [p["why"] for p in done.trace["processes"] if not p["hooked"]] == ["-I ignores PYTHONPATH"]
