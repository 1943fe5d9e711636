"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

TESTS = """
import pytest, torch
t = torch.zeros(1)
runs = []

@pytest.mark.limit_syncs(1)
def test_within():
    t.item()

@pytest.mark.limit_syncs(0)
def test_beyond():
    t.item()
    t.item()

@pytest.fixture
def number():
    return 3

@pytest.mark.limit_syncs(0, warmups=2)
def test_warm(number):
    runs.append(number)
    if len(runs) < 3:
        t.item()
    assert number == 3

def test_free():
    for _ in range(5):
        t.tolist()
"""


@pytest.fixture
def run_pytest(environment, program, tmp_path):
    """Runs pytest on a file; gives its output."""

    def run(source: str, *options: str, **variables: str) -> str:
        program(source, "test_it.py")
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
        command = [sys.executable, "-m", "pytest", "-p", "syncscan.pytest_plugin", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, "-rs", "test_it.py", *options],
            capture_output=True,
            text=True,
            env={**environment, **variables},
            cwd=tmp_path,
            check=False,
            timeout=300,
        )
        return done.stdout + done.stderr

    return run


def test_pytest_explains_the_marker(run_pytest):
    words = " ".join(run_pytest("", "--markers").split())
    assert "fail if the test synchronizes more often than `limit` times, after `warmups` runs" in words


def test_limits_hold_warm_ups_do_not_count_and_the_summary_lists_the_worst(run_pytest):
    out = run_pytest(TESTS, "--syncscan")
    assert "1 failed, 3 passed" in out
    assert "the CPU was blocked 2 times, the limit is 0:" in out
    assert "  1 x " in out
    assert "test_it.py:13 in test_beyond (cudaStreamSynchronize)" in out
    assert "8 in 3 of 4 tests" in out
    assert "     5 test_it.py::test_free" in out


def test_without_the_option_the_marker_does_nothing(run_pytest):
    out = run_pytest(TESTS)
    assert "4 passed" in out
    assert "synchronizations" not in out


def test_warnings_as_errors_do_not_disturb_it(run_pytest):
    out = run_pytest(TESTS, "--syncscan", "-W", "error", FAKE_CUPTI_BUSY="1")
    assert "1 failed, 3 passed" in out


@pytest.mark.parametrize("arguments", ["", '"0"', "0, warmups='x'", "0, warmups=1.5", "-1", "0, 0, 0"])
def test_a_marker_that_makes_no_sense(run_pytest, arguments):
    source = f"import pytest\n@pytest.mark.limit_syncs({arguments})\ndef test_it(): pass\n"
    out = run_pytest(source, "--syncscan")
    assert "\nwrite limit_syncs(limit, warmups=0), with whole numbers from 0 on\n" in out
    assert "pytest_plugin.py" not in out
    assert "1 error" in out


def test_a_path_right_after_the_option(run_pytest):
    assert "before a path, write --syncscan=gpu" in run_pytest(TESTS, "--syncscan", "test_it.py")


def test_without_cuda_a_limited_test_is_skipped_with_the_reason(run_pytest, environment):
    if torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    source = "import pytest\n@pytest.mark.limit_syncs(0)\ndef test_it(): pass\ndef test_free(): pass\n"
    out = run_pytest(source, "--syncscan", PYTHONPATH=environment["PYTHONPATH"].rpartition(":")[2])
    assert "limit_syncs counts synchronizations with a GPU, and torch finds none here" in out
    assert "1 passed, 1 skipped" in out


def test_no_frame_of_ours_is_on_the_stack_of_a_test(run_pytest):
    source = "import inspect\ndef test_it(): print('CALLER', inspect.stack()[1].function)\n"
    assert "CALLER pytest_pyfunc_call" in run_pytest(source, "--syncscan", "-s")


def test_of_a_unittest_the_function_alone_is_counted(run_pytest):
    source = (
        "import torch, unittest\nt = torch.zeros(1)\nclass T(unittest.TestCase):\n"
        "    def setUp(self): t.item()\n    def test_it(self): t.item(); t.item()\n"
    )
    assert "2 in 1 of 1 test\n" in run_pytest(source, "--syncscan")


THREADS = """
import pytest, threading, torch
from concurrent.futures import ThreadPoolExecutor
t = torch.zeros(1)
pool = ThreadPoolExecutor(1)

@pytest.mark.limit_syncs(0)
def test_thread():
    thread = threading.Thread(target=t.item)
    thread.start()
    thread.join()

@pytest.mark.limit_syncs(0, warmups=1)
def test_pool_that_is_warm():
    pool.submit(lambda: [t.item(), t.item()]).result()

@pytest.mark.limit_syncs(0)
def test_allowed_in_the_thread():
    def read():
        import syncscan
        with syncscan.allow_sync("the log"):
            t.item()
    pool.submit(read).result()

def test_in_both():
    t.item()
    pool.submit(t.item).result()

@pytest.fixture
def before():
    pool.submit(t.item).result()

def test_free(before):
    pass
"""


def test_threads_of_the_process_count_while_the_test_runs(run_pytest):
    out = run_pytest(THREADS, "--syncscan")
    assert "2 failed, 3 passed" in out
    assert "the CPU was blocked 1 time, the limit is 0:" in out
    assert "the CPU was blocked 2 times, the limit is 0:" in out
    assert "     2 test_it.py::test_in_both\n" in out


UNFINISHED = """
import pytest, torch
t = torch.zeros(1)

def test_fails():
    t.item()
    assert False

@pytest.mark.limit_syncs(1)
def test_fails_beyond_its_limit():
    t.item()
    t.item()
    assert 3 == 4

@pytest.mark.limit_syncs(5)
def test_fails_within_its_limit():
    assert t is None

def test_skips():
    [t.item() for _ in range(3)]
    pytest.skip("no data")

@pytest.mark.xfail(raises=AssertionError, reason="it is to fail")
def test_is_expected_to_fail():
    [t.item() for _ in range(4)]
    assert False
"""


def test_a_test_that_does_not_pass_counts_and_keeps_its_outcome(run_pytest):
    out = run_pytest(UNFINISHED, "--syncscan", "-rf")
    assert "3 failed, 1 skipped, 1 xfailed" in out
    assert "10 in 4 of 5 tests\n" in out
    assert "     4 test_it.py::test_is_expected_to_fail\n     3 test_it.py::test_skips\n" in out
    assert "FAILED test_it.py::test_fails_beyond_its_limit - assert 3 == 4\n" in out
    assert out.count("- Captured limit_syncs call -") == 1
    assert "the CPU was blocked 2 times, the limit is 1:\n  1 x " in out
