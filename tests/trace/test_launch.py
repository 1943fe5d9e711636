"""The command behaves as it would alone, and what is wrong is said in one line."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ = "import torch\nt = torch.zeros(1)\nt.item()\n"


def test_arguments_input_and_output_are_the_commands(environment, program, tmp_path):
    script = program("import sys\nprint(sys.argv[1:], sys.stdin.read())\nprint('err', file=sys.stderr)\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "syncscan",
            "trace",
            "--",
            sys.executable,
            script,
            "--output-format",
            "-o",
            "x y",
        ],
        input="typed",
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "['--output-format', '-o', 'x y'] typed\n"
    assert done.stderr.startswith("err\n")


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
    script = program(
        "import sys\nprint([n for n in sys.modules if n.strip('_').startswith('syncscan')], sys.path[1:2])\n"
    )
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


@pytest.mark.parametrize("command", [[], ["--", ""]])
def test_no_command(environment, command):
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", *command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "syncscan: no command given; write `syncscan trace -- python serve.py`\n"


def test_an_output_folder_without_a_name(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "-o", "", "--", "true"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.startswith("syncscan: Invalid value for '-o' / '--output': it is empty; ")


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["parts/data.txt"], "parts"),
        (["parts/options", "trace.json"], "parts, trace.json"),
        (["parts"], "parts"),
        (["trace.json"], "trace.json"),
    ],
)
def test_files_that_are_not_of_a_trace_stay(tmp_path, files, names):
    for name in files:
        path = tmp_path / "trace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "-o", "trace", "--", "true"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    message = f"syncscan: trace: holds other files: {names}; name another folder\n"
    assert (done.returncode, done.stderr) == (2, message)
    assert [(tmp_path / "trace" / name).read_text() for name in files] == ["mine\n"] * len(files)


def test_a_folder_is_used_again_and_only_the_earlier_trace_goes(trace, tmp_path):
    assert trace(READ).counts() == {"t.item()": 1}
    others = [tmp_path / "trace" / "notes.txt", tmp_path / "trace" / "parts" / "notes.jsonl"]
    for path in others:
        path.write_text("mine\n")
    assert trace(READ + "t.tolist()\n").counts() == {"t.item()": 1, "t.tolist()": 1}
    assert [path.read_text() for path in others] == ["mine\n"] * 2


def test_two_traces_at_a_time_need_two_folders(trace, tmp_path):
    """The program of a trace runs a second one, as a shell with two jobs would."""
    again = [sys.executable, "-m", "syncscan", "trace", "-o", "trace", "--", "true"]
    run = f"done = subprocess.run({again}, capture_output=True, text=True, cwd={str(tmp_path)!r})\n"
    done = trace(f"import subprocess\n{run}print(done.returncode, done.stderr)\n{READ}")
    assert done.stdout == "2 syncscan: trace: another trace writes there; name another folder\n\n"
    assert done.counts() == {"t.item()": 1}
    assert trace(READ).counts() == {"t.item()": 1}


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


NO_FLUSH = """\
import os, sys
import torch
sys.modules["_syncscan_hook.hook"].FIRST_FLUSH_SECONDS = 1000.0
"""


def test_a_program_that_is_killed_before_its_first_flush_says_so(trace):
    done = trace(NO_FLUSH + "torch.zeros(1).item()\nos.kill(os.getpid(), 9)\n")
    assert done.status == 137
    assert "nothing was traced: the program ended before its syncs were written" in done.stderr


def test_a_process_that_is_killed_before_its_first_flush_is_listed(trace):
    fork = """\
child = os.fork()
torch.zeros(1).item()
if not child:
    os.kill(os.getpid(), 9)
os.wait()
"""
    done = trace(NO_FLUSH + fork)
    assert "was blocked 1 time at 1 site" in done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.endswith("ended before it wrote any syncs"))
    assert line.startswith("process ")


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
        hook.recorder.room = 0  # the timeline has a bound of its own, which is larger
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
        print(len(sys.modules["_syncscan_hook.start"].hook.recorder.entries) <= 3 * 20 + 1)
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
        [sys.executable, "-m", "syncscan", "trace", "--output-format", "json", "--", sys.executable, script],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    trace = json.loads(done.stdout)
    assert trace["version"] == 1
    assert [site["expression"] for site in trace["sites"]] == ["t.item()"]
