"""forbid_sync, allow_sync and count_syncs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import syncscan


@pytest.fixture
def run(environment, program):
    """Runs a program with the stand-in of torch; gives its output."""

    def run_program(source: str, **variables: str) -> str:
        prelude = "import sys, syncscan, torch\nt = torch.zeros(1)\n"
        script = program(prelude + source)
        done = subprocess.run(
            [sys.executable, script],
            capture_output=True,
            text=True,
            env={**environment, **variables},
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "left subscribed" not in done.stderr
        return done.stdout

    return run_program


FORBID = """
import traceback
def read():
    before = 1
    t.item()
    print("not reached")
try:
    with syncscan.forbid_sync():
        read()
except syncscan.SyncError as error:
    print(error)
    print([frame.lineno for frame in traceback.extract_tb(error.__traceback__)][:2])
t.item()
print(sys.gettrace(), torch.cuda.get_sync_debug_mode(), torch._library.fake_subscribed())
"""


@pytest.mark.parametrize(
    ("busy", "api"), [({}, "cudaStreamSynchronize"), ({"FAKE_CUPTI_BUSY": "1"}, "debug-mode")]
)
def test_a_forbidden_wait_raises_at_its_line_and_leaves_nothing_behind(run, tmp_path, busy, api):
    message, lines, left = run(FORBID, **busy).splitlines()
    assert message.startswith(f"the CPU was blocked at {tmp_path}/program.py:7 in read ({api}); ")
    assert lines == "[11, 7]"
    assert left == "None 0 0"


def test_a_wait_that_debug_mode_does_not_see_is_forbidden_too(run):
    out = run("""
try:
    with syncscan.forbid_sync():
        torch.cuda.synchronize()
        print("not reached")
except syncscan.SyncError as error:
    print(error.sync.line, error.sync.api)
""")
    assert out == "6 cudaDeviceSynchronize\n"


def test_regions_nest_and_the_innermost_decides(run):
    out = run("""
with syncscan.count_syncs() as outer:
    with syncscan.forbid_sync():
        with syncscan.allow_sync("the scheduler needs it"):
            t.item()
            with syncscan.count_syncs() as inner:
                t.item()
            try:
                with syncscan.forbid_sync():
                    t.item()
            except syncscan.SyncError:
                print("forbidden")
    t.item()
print(outer.total, inner.total)
""")
    assert out == "forbidden\n1 1\n"


WAITS = """
def waits():
    try:
        t.item()
    except syncscan.SyncError:
        return "forbidden"
    return "allowed"
"""


def test_a_region_that_ends_gives_back_the_one_around_it(run):
    out = run(f"""{WAITS}
forbid, allow = syncscan.forbid_sync, lambda: syncscan.allow_sync("the scheduler needs it")
with forbid():
    with allow():
        print("inside", waits())
    print("behind", waits())
    try:
        with allow():
            raise ValueError
    except ValueError:
        print("behind an error", waits())
    with syncscan.count_syncs() as seen:
        pass
    print("behind a count", waits(), seen.total)
with allow():
    with forbid():
        print("inside", waits())
    print("behind", waits())
with forbid():
    pass
print("outside", waits())
region = forbid()
with region:
    with region:
        pass
    print("entered twice", waits())
print("left twice", waits())
""")
    assert out.splitlines() == [
        "inside allowed",
        "behind forbidden",
        "behind an error forbidden",
        "behind a count forbidden 0",
        "inside forbidden",
        "behind allowed",
        "outside allowed",
        "entered twice forbidden",
        "left twice allowed",
    ]


def test_regions_end_in_any_order_and_in_any_context(run):
    out = run(f"""{WAITS}
import contextvars
seen, forbid = syncscan.count_syncs(), syncscan.forbid_sync()
seen.__enter__()
forbid.__enter__()
seen.__exit__(None, None, None)
print("the other one is open", waits())
forbid.__exit__(None, None, None)
print("none is open", waits(), seen.total)
outer, inner = syncscan.forbid_sync(), syncscan.allow_sync("reason")
outer.__enter__()
copied = contextvars.copy_context()
copied.run(inner.__enter__)
print("entered elsewhere", waits(), copied.run(waits))
inner.__exit__(None, None, None)
print("left here", waits())
outer.__exit__(None, None, None)
print("none is open", waits(), sys.gettrace(), torch._library.fake_subscribed())
""")
    assert out.splitlines() == [
        "the other one is open forbidden",
        "none is open allowed 0",
        "entered elsewhere forbidden allowed",
        "left here forbidden",
        "none is open allowed None 0",
    ]


def test_a_region_belongs_to_its_thread(run):
    out = run("""
import threading
def read():
    for _ in range(5):
        t.item()
with syncscan.count_syncs() as seen, syncscan.forbid_sync():
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
print(seen.total)
""")
    assert out == "0\n"


def test_a_region_belongs_to_its_task(run):
    out = run("""
import asyncio
async def read(times):
    with syncscan.count_syncs() as seen:
        for _ in range(times):
            t.item()
            await asyncio.sleep(0)
    return seen.total
async def main():
    return await asyncio.gather(read(1), read(5), read(3))
print(asyncio.run(main()))
""")
    assert out == "[1, 5, 3]\n"


def test_counts_name_their_places(run, tmp_path):
    out = run("""
with syncscan.count_syncs() as seen:
    for _ in range(3):
        t.item()
    t.tolist()
print(seen.total, [(str(place), count) for place, count in seen.sites.most_common()])
""")
    place = f"{tmp_path}/program.py"
    assert out == (
        f"4 [('{place}:6 in <module> (cudaStreamSynchronize)', 3),"
        f" ('{place}:7 in <module> (cudaMemcpyAsync)', 1)]\n"
    )


def test_a_trace_lists_allowed_waits_apart(trace):
    done = trace("""
        import syncscan, torch
        t = torch.zeros(1)
        t.item()
        with syncscan.allow_sync("the scheduler needs it"):
            with syncscan.count_syncs():
                t.tolist()
            try:
                with syncscan.forbid_sync():
                    t.item()
            except syncscan.SyncError:
                print("forbidden")
    """)
    assert done.stdout == "forbidden\n"
    assert done.site("t.tolist()")["allowed"] == "the scheduler needs it"
    assert done.counts() == {"t.item()": 2, "t.tolist()": 1}
    assert re.search(r"allowed \(the scheduler needs it\): 1 time, [\d.e-]+ [mu]s, at ", done.stderr)


def test_a_region_that_begins_before_cuda_does_sees_its_waits(environment, program):
    source = """
        import syncscan
        with syncscan.count_syncs() as first, syncscan.count_syncs() as second:
            import torch
            t = torch.zeros(1)
            t.item()
        t.item()
        print(first.total, second.total, torch._library.fake_subscribed())
    """
    done = subprocess.run(
        [sys.executable, program(source)], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.stdout, done.stderr) == ("1 1 0\n", "")


def test_a_region_that_has_ended_before_cuda_starts_arms_nothing(environment, program):
    source = """
        import syncscan
        with syncscan.count_syncs() as first:
            pass
        import torch
        t = torch.zeros(1)
        t.item()
        print(torch._library.fake_subscribed(), torch.cuda.get_sync_debug_mode())
        with syncscan.count_syncs() as second:
            t.item()
            with syncscan.count_syncs() as third:
                t.item()
            t.item()
        print(first.total, second.total, third.total, torch._library.fake_subscribed())
    """
    for busy in ({}, {"FAKE_CUPTI_BUSY": "1"}):
        done = subprocess.run(
            [sys.executable, program(source)],
            capture_output=True,
            text=True,
            env={**environment, **busy},
            check=False,
        )
        assert (done.stdout, done.stderr) == ("0 0\n0 3 1 0\n", "")


def test_in_a_trace_each_wait_is_told_once_to_the_regions_that_it_is_in(trace):
    done = trace("""
        import syncscan, torch
        t = torch.zeros(1)
        with syncscan.count_syncs() as first:
            t.item()
        with syncscan.count_syncs() as second, syncscan.count_syncs() as third:
            t.item()
            with syncscan.allow_sync("known"), syncscan.count_syncs() as fourth:
                t.item()
        t.item()
        print(first.total, second.total, third.total, fourth.total)
    """)
    assert done.stdout == "1 1 1 1\n"
    assert done.counts() == {"t.item()": 4}


def test_without_cuda_a_region_does_nothing():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    queued = len(torch.cuda._queued_calls)
    with syncscan.forbid_sync(), syncscan.count_syncs() as seen:
        assert torch.ones(3).sum().item() == 3
    assert seen.total == 0
    with syncscan.forbid_sync():
        pass
    assert len(torch.cuda._queued_calls) <= queued + 1


def test_a_region_in_compiled_code_does_not_break_the_graph():
    torch = pytest.importorskip("torch")

    @torch.compile(backend="eager", fullgraph=True)
    def double(tensor):
        with syncscan.allow_sync("reason"):
            return tensor * 2

    assert double(torch.ones(2)).tolist() == [2, 2]


def test_importing_syncscan_stays_light():
    code = (
        "import sys, syncscan; print([n for n in ('libcst', 'rich', 'click', 'torch') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_line_that_debug_mode_has_warned_of_is_counted_too(run):
    printed = run(
        """
torch.cuda.set_sync_debug_mode("warn")
def read():
    t.item()
read()
with syncscan.count_syncs() as seen:
    read()
print(seen.total)
""",
        FAKE_CUPTI_BUSY="1",
    )
    assert printed == "1\n"
