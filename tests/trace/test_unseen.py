"""What a program can see of the hook: hardly anything. Each program prints the same alone and traced."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import pytest

USE = "import torch\ntorch.zeros(1).item()\n"
Compare = Callable[..., str]


@pytest.fixture
def same(program, environment, run_trace) -> Compare:
    """Runs a program alone and traced, compares status, output and errors, and gives what it printed."""

    def run(source: str, *flags: str, options: tuple[str, ...] = (), status: int = 0) -> str:
        command = [sys.executable, *flags, str(program(source))]
        alone = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        traced = run_trace(command, options)
        errors, _, _ = traced.stderr.partition("syncscan: ")
        assert [status, plain(traced.stdout), plain(errors)] == [
            traced.status, plain(alone.stdout), plain(alone.stderr),
        ]  # fmt: skip
        return traced.stdout

    return run


def plain(text: str) -> str:
    return re.sub("0x[0-9a-f]+", "0x", text)


FUNCTIONS = """\
import copy, inspect, os, pickle, posix, types
import torch
functions = os._exit, os.execv, os.execve
for function in functions:
    print(function, function.__name__, function.__qualname__, function.__module__, function.__self__)
    print(function.__doc__, function.__text_signature__, inspect.signature(function), inspect.getdoc(function))
    print(inspect.isbuiltin(function), inspect.isfunction(function), inspect.ismethod(function))
    print(isinstance(function, types.BuiltinFunctionType), callable(function), function == function)
    print([pickle.dumps(function, protocol) for protocol in range(5)])
    print(pickle.loads(pickle.dumps(function)) is function, copy.deepcopy(function) is function)
    print(getattr(posix, function.__name__) is function, function in {function}, hasattr(function, "__dict__"))
    for name in ("__wrapped__", "__code__", "__get__", "new"):
        print(hasattr(function, name))
    try:
        function.new = 1
    except AttributeError:
        print("nothing can be set")
    try:
        function(1, 2, 3, 4)
    except TypeError as error:
        print(error)
print(os.execve in os.supports_fd, os.execv in os.supports_fd, len(os.supports_fd))
"""


def test_the_functions_that_end_a_process_are_what_they_were(same):
    assert "True False" in same(FUNCTIONS)


def test_a_function_of_a_class_stays_unbound(same):
    same(USE + "import os\nclass Server:\n    leave = os._exit\nServer().leave(status=7)\n", status=7)


def test_a_function_that_the_program_replaced_stays_its_own(same):
    source = "import os\ndef leave(status):\n    print('mine')\nos._exit = leave\n" + USE + "os._exit(3)\n"
    assert same(source + "print(os._exit is leave)\n") == "mine\nTrue\n"


def test_a_function_that_the_program_took_before_torch_still_works(same):
    same("from os import _exit\n" + USE + "_exit(7)\n", status=7)


@pytest.mark.parametrize(
    "call", ["os.execv('/none', ['x'])", "os.execve('/none', ['x'], {})", "os._exit('x')"]
)
def test_no_frame_of_ours_is_in_a_traceback(same, call):
    same(USE + f"import os\n{call}\n", status=1)


@pytest.mark.parametrize("failing", ["ValueError('on purpose')", "ImportError('on purpose')"])
def test_no_frame_of_ours_is_in_the_traceback_of_a_failed_import(same, program, failing):
    program(f"def fail():\n    raise {failing}\nfail()\n", "torch.py")
    same("import torch\n", status=1)


def test_a_warning_of_a_watched_module_points_to_who_imports_it(same, program):
    program("import warnings\nwarnings.warn('old', stacklevel=2)\ndef step(): pass\n", "stepping.py")
    same("import stepping\n", options=("--step", "stepping:step"))


def test_a_module_is_watched_that_was_only_looked_for_or_failed_at_first(trace):
    done = trace("""
        import importlib.util, os, sys
        print(importlib.util.find_spec("torch").name)
        library = os.environ.pop("FAKE_CUDA_LIBRARY")
        try:
            import torch
        except KeyError:
            os.environ["FAKE_CUDA_LIBRARY"] = library
            for name in [name for name in sys.modules if name.startswith("torch")]:
                del sys.modules[name]
        import torch
        torch.zeros(1).item()
    """)
    assert done.stdout == "torch\n"
    assert done.counts() == {"torch.zeros(1).item()": 1}


STATE = """\
import atexit, gc, os, signal, sys, threading, warnings
print(sys.path, sys.argv, sys.flags, sys.warnoptions, sys.orig_argv[1:])
print([path for path in sys.path_importer_cache if path.endswith("/hook")])
print(sys.meta_path, sys.path_hooks, sys.gettrace(), sys.getprofile(), sys.getrecursionlimit())
print(sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook, sys.getswitchinterval())
print([thread.name for thread in threading.enumerate()], gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.get_freeze_count())
print([(number, signal.getsignal(number)) for number in signal.valid_signals()])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
print(warnings.filters, warnings.showwarning, "sitecustomize" in sys.modules)
print(sorted(set(os.environ.items()) - {(n, os.environ.get(n)) for n in ("PYTHONPATH", "SYNCSCAN_TRACE")}))
"""


def test_the_state_of_the_interpreter_is_as_it_was(same):
    same(USE + STATE)


def test_a_loader_and_its_spec_are_as_they_were(same):
    same(USE + "print(torch.__spec__, vars(torch.__loader__), type(torch.__spec__))\n")


@pytest.mark.parametrize(
    "flags", [("-W", "error"), ("-X", "dev"), ("-X", "warn_default_encoding"), ("-b", "-O")]
)
def test_a_strict_interpreter_has_nothing_to_say(same, flags):
    same(USE, *flags)


def test_a_warning_is_shown_once_also_by_debug_mode(same):
    source = "import torch, warnings\ndef warn():\n    warnings.warn('once')\nwarn()\n"
    same(source + "torch.zeros(1).item()\nwarn()\n", options=("--detector", "debug-mode"))


def test_the_programs_own_warning_of_a_wait_is_shown_as_often_by_debug_mode(same):
    source = "import torch\ntorch.cuda.set_sync_debug_mode('warn')\nt = torch.zeros(1)\n"
    same(source + "for _ in range(3):\n    t.item()\n", options=("--detector", "debug-mode"))


@pytest.mark.parametrize("source", ["raise ValueError('mine')", "import nothing_here", "sys.marked = 1"])
def test_the_sitecustomize_of_the_program_behaves_as_alone(same, program, environment, tmp_path, source):
    launcher = "if 'syncscan' not in sys.orig_argv:"
    program(f"import sys\n{launcher}\n    {source}\n", "sitecustomize.py")
    environment["PYTHONPATH"] = f"{tmp_path}:{environment['PYTHONPATH']}"
    same("import sys\nprint(getattr(sys, 'marked', None), sys.modules.get('sitecustomize'))\n")


def test_a_program_that_clears_its_environment_and_modules_goes_on(same):
    same("""\
import os, sys
os.environ.pop("SYNCSCAN_TRACE", None)
for name in [name for name in sys.modules if "syncscan" in name]:
    del sys.modules[name]
import torch
torch.zeros(1).item()
print("done")
os._exit(4)
""", status=4)  # fmt: skip


def test_exit_handlers_keep_their_order(same):
    source = "import atexit\nfor n in range(3):\n    atexit.register(print, n)\n"
    assert same(source + USE + "atexit.register(print, 3)\n") == "3\n2\n1\n0\n"


def test_a_fork_server_that_runs_its_exit_handlers_by_hand(trace):
    done = trace("""
        import atexit, os
        import torch
        for number in range(2):
            if os.fork() == 0:
                torch.zeros(1).item()
                atexit._run_exitfuncs()
                os._exit(number)
        print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)))
    """)
    assert done.stdout == "[0, 1]\n"
    assert done.counts() == {"torch.zeros(1).item()": 2}


@pytest.mark.parametrize(
    "source",
    ["print('starts')", "raise ValueError('mine')", "raise SystemExit(3)", "open('mark', 'a').write('x')"],
)
def test_a_launcher_that_starts_isolated_leaves_the_sitecustomize_to_the_program(
    program, environment, tmp_path, source
):
    """`python -I -m syncscan`: nothing of the program's PYTHONPATH runs in it, and nothing twice."""
    isolated = [sys.executable, "-I", "-m", "syncscan", "trace", "--"]
    if subprocess.run([*isolated[:4], "--version"], capture_output=True, check=False).returncode:
        pytest.skip("syncscan is not installed here")
    program(f"{source}\n", "sitecustomize.py")
    program("raise ImportError('not the one of syncscan')\n", "click.py")
    path = f"{tmp_path}:{environment['PYTHONPATH']}"
    command = [sys.executable, str(program("print('runs')\n"))]
    outcomes = []
    for prefix in ([], isolated):
        (tmp_path / "mark").unlink(missing_ok=True)
        done = subprocess.run(
            [*prefix, *command], cwd=tmp_path, capture_output=True, text=True,
            env={**environment, "PYTHONPATH": path}, check=False,
        )  # fmt: skip
        mark = (tmp_path / "mark").read_text() if (tmp_path / "mark").exists() else ""
        errors = done.stderr.partition("syncscan: ")[0].splitlines()
        if "SystemExit" in source:  # which is fatal there: the traceback shows who imported it
            errors = [errors[0], errors[-1]]
        outcomes.append((done.returncode, done.stdout, errors, mark))
    assert outcomes[0] == outcomes[1]
