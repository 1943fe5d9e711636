"""Every process is followed, however it starts and ends, and the command behaves as it would alone."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

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


def test_arguments_input_and_output_are_the_commands(environment, program, tmp_path):
    script = program("import sys\nprint(sys.argv[1:], sys.stdin.read())\nprint('err', file=sys.stderr)\n")
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "--", sys.executable, script, "--format", "-o", "x y"],
        input="typed",
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "['--format', '-o', 'x y'] typed\n"
    assert done.stderr.startswith("err\n")


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
    # The launcher looks at the process table four times a second; this one lives until it has.
    script = program("""
        import subprocess, sys
        subprocess.run([sys.executable, "-I", "-c", "import time; time.sleep(0.7)"])
    """)
    done = run_trace(["sh", "-c", f"{sys.executable} {script}"])
    assert [p["why"] for p in done.trace["processes"] if not p["hooked"]] == ["-I ignores PYTHONPATH"]


def test_the_programs_own_sitecustomize_runs(run_trace, program, tmp_path, environment):
    program("import sys\nsys.stamp = 'mine'\n", "sitecustomize.py")
    script = program("import sys, sitecustomize\nprint(sys.stamp, sitecustomize.__file__)\n")
    path = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    done = run_trace([sys.executable, script], PYTHONPATH=path)
    assert done.stdout == f"mine {tmp_path / 'sitecustomize.py'}\n"


def test_the_program_starts_as_it_would_alone(run_trace, program, environment):
    script = program("""
        import sys
        ours = [n for n in sys.modules if "syncscan" in n or n == "sitecustomize"]
        print(sorted(set(sys.modules) - set(ours) - set(sys.builtin_module_names)), sys.path, sys.argv, sys.flags)
        print(threading.active_count() if (threading := __import__("threading")) else 0)
    """)
    alone = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=True
    )
    done = run_trace([sys.executable, script])
    assert done.stdout == alone.stdout


def test_nothing_of_ours_runs_without_our_variable(environment, program):
    hook = environment["PYTHONPATH"].rpartition(os.pathsep)[2] + "/syncscan/trace/hook"
    script = program("import sys\nprint([n for n in sys.modules if 'syncscan' in n], sys.path[1:2])\n")
    variables = {**environment, "PYTHONPATH": hook}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=variables, check=True)
    assert done.stdout.startswith("[] ")
    assert "trace/hook" not in done.stdout


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (["no-such-command"], 127, "syncscan: no-such-command: command not found"),
        (["/"], 126, "syncscan: /: cannot be executed: permission denied"),
    ],
)
def test_a_command_that_cannot_start(run_trace, command, status, message):
    done = run_trace(command)
    assert (done.status, done.stderr.strip()) == (status, message)


def test_no_command(environment):
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert "no command given; write `syncscan trace -- python serve.py`" in done.stderr


def test_a_folder_that_cannot_be_written(environment, tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "-o", tmp_path / "file" / "x", "--", "true"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == f"syncscan: {tmp_path}/file/x: cannot be written: not a directory\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(1)", "no process imported torch"),
        ("import torch", "no process started CUDA"),
        ("import torch\ntorch.version.cuda", "no process started CUDA"),
    ],
)
def test_a_program_without_waits_says_why(trace, source, reason):
    done = trace(source)
    assert done.status == 0
    assert f"nothing was traced: {reason}" in done.stderr


def test_torch_without_cuda_is_said(run_trace, program, environment):
    """The real torch of the tests, which has no CUDA."""
    torch = pytest.importorskip("torch")
    if torch.version.cuda is not None:
        pytest.skip("this torch has CUDA")
    path = environment["PYTHONPATH"].rpartition(os.pathsep)[2]
    script = program("import torch\nprint(torch.ones(3).sum().item())\n")
    done = run_trace([sys.executable, script], PYTHONPATH=path)
    assert done.stdout == "3.0\n"
    assert f"torch {torch.__version__} in the program has no CUDA" in done.stderr


def test_a_trace_folder_that_vanishes_does_not_hurt(trace):
    done = trace("""
        import os, shutil
        import torch
        t = torch.zeros(1)
        t.item()
        shutil.rmtree(os.environ["SYNCSCAN_TRACE"])
        if os.fork() == 0:
            t.item()
            os._exit(0)
        print(os.wait()[1])
    """)
    assert (done.status, done.stdout) == (0, "0\n")


def test_a_long_run_does_not_fill_the_disk(trace):
    done = trace("""
        import glob, os, sys
        import torch
        sys.modules["_syncscan_hook.output"].MAX_BYTES = 3000
        hook = sys.modules["_syncscan_hook.start"].hook
        torch.cuda.set_sync_debug_mode("warn")
        t = torch.zeros(1)
        for _ in range(200):
            t.item()
            t.tolist()
            hook.flush()
        (part,) = glob.glob(os.environ["SYNCSCAN_TRACE"] + "/*.jsonl*")
        print(os.path.getsize(part) < 6000)
    """)
    assert done.stdout == "True\n"
    assert done.counts() == {"t.item()": 200, "t.tolist()": 200}
    assert done.trace["processes"][0]["detectors"] == ["cupti"]


def test_memory_is_bounded_by_the_number_of_stacks_kept(trace):
    done = trace("""
        import sys
        import torch
        sys.modules["_syncscan_hook.record"].MAX_ENTRIES = 20
        t = torch.zeros(1)
        def read():
            t.item()
        exec("\\n".join("read()" for _ in range(100)))
        for number in range(100):
            exec("\\n" * number + "(lambda: read())()")
        for number in range(100):
            exec("\\n" * number + "(lambda: t.item())()")
        print(len(sys.modules["_syncscan_hook.start"].hook.recorder.entries) <= 2 * 20 + 1)
    """)
    assert done.stdout == "True\n"
    assert sum(done.counts().values()) == 300
    assert done.site("t.item()", function="read")["count"] == 200


def test_the_hook_needs_nothing_but_the_standard_library_of_python_3_9():
    hook = ROOT / "syncscan" / "trace" / "hook"
    for path in sorted(hook.rglob("*.py")):
        tree = ast.parse(path.read_text(), feature_version=(3, 9))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            own = {"_syncscan_hook", "sitecustomize"}
            assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, *own}, path


def test_json_of_the_report_is_the_trace(environment, program, tmp_path):
    script = program(READ)
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "--format", "json", "--", sys.executable, script],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    trace = json.loads(done.stdout)
    assert trace["version"] == 1
    assert [site["expression"] for site in trace["sites"]] == ["t.item()"]
