"""For how long the GPU has nothing to do after a wait: which launch ends it, which stream forbids it, what it costs."""

from __future__ import annotations

import sys

import pytest

MS = 1_000_000
START = """
import ctypes, threading, time
import torch
cuda = torch._library
cuda.fake_delivered.argtypes = [ctypes.c_char_p]
t = torch.zeros(1)
cuda.fake_launch(0)
def idle(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
"""


@pytest.fixture
def starved(trace):
    """Traces a program with --starved: the site of each expression."""

    def run(source: str, *options: str):
        done = trace(START + source, "--starved", *options)
        assert done.status == 0, done.stderr
        assert not [line for line in done.stderr.splitlines() if "tracing stops" in line], done.stderr
        return done

    return run


@pytest.mark.parametrize("ends", ["launch", "launch_ex", "graph"])
def test_it_lasts_from_the_end_of_a_wait_to_the_next_launch(starved, ends):
    done = starved(f"t.item()\nidle(0.03)\ncuda.fake_{ends}(0)\nidle(0.5)\ncuda.fake_launch(0)\n")
    measured = done.site("t.item()")["starved_ns"]
    assert measured["measured"] == 1
    assert 30 * MS <= measured["total"] < 400 * MS


def test_it_lasts_until_the_launch_has_returned(starved):
    done = starved(
        "cuda.fake_set_launch_takes(30_000)\nt.item()\ncuda.fake_launch(0)\nidle(0.5)\ncuda.fake_launch(0)\n"
    )
    assert 30 * MS <= done.site("t.item()")["starved_ns"]["total"] < 400 * MS


def test_a_copy_ends_it_too(starved):
    done = starved("t.item()\nidle(0.03)\nt.upload(1, 8, 1)\nidle(0.5)\ncuda.fake_launch(0)\n")
    assert 30 * MS <= done.site("t.item()")["starved_ns"]["total"] < 400 * MS


def test_a_launch_of_any_thread_ends_it(starved):
    done = starved("t.item()\nidle(0.03)\nth = threading.Thread(target=cuda.fake_launch, args=(0,))\nth.start()\nth.join()\nidle(0.5)\ncuda.fake_launch(0)\n")  # fmt: skip
    assert 30 * MS <= done.site("t.item()")["starved_ns"]["total"] < 400 * MS


def test_each_of_two_waits_has_its_own_share(starved):
    done = starved(
        "now = time.perf_counter_ns\nat = [now()]\nt.item()\nat.append(now())\nidle(0.03)\nat.append(now())\n"
        "cuda.fake_wait(0)\nat.append(now())\nidle(0.03)\nat.append(now())\ncuda.fake_launch(0)\nprint(*at, now())\n"
    )
    at = [int(moment) for moment in done.stdout.split()]
    assert at[2] - at[1] <= done.site("t.item()")["starved_ns"]["total"] <= at[3] - at[0]
    assert at[4] - at[3] <= done.site("cuda.fake_wait(0)")["starved_ns"]["total"] <= at[5] - at[2]


def test_every_wait_is_counted_where_it_is(trace):
    source = START + "for _ in range(5):\n    t.item()\n    cuda.fake_launch(0)\n    t.item(); t.tolist()\n"
    with_it, without = trace(source, "--starved"), trace(source)
    counts = without.counts()
    assert counts == {"t.item()": 10, "t.tolist()": 5}
    assert with_it.counts() == counts


def test_a_wait_that_nothing_follows_is_not_measured(starved):
    done = starved("t.item()\n")
    assert done.site("t.item()")["starved_ns"] is None


def test_a_second_of_nothing_is_the_programs_own(starved):
    done = starved("t.item()\nidle(1.1)\ncuda.fake_launch(0)\n")
    assert done.site("t.item()")["starved_ns"] is None


# After the first wait all launches are seen, up to the next.
LEARN = "cuda.fake_wait(0)\ncuda.fake_launch(0)\ncuda.fake_launch(5)\n"
# And then ever less: not before the 64th wait.
LEARNT = "for _ in range(33):\n    cuda.fake_wait(0)\n    cuda.fake_launch(0)\n"


def test_while_another_stream_is_busy_it_is_not_starved(starved):
    done = starved(
        LEARN
        + "cuda.fake_set_busy(5, 1)\nt.item()\nidle(0.03)\ncuda.fake_launch(0)\nprint(cuda.fake_wrongly_asked())\n"
    )
    assert done.site("t.item()")["starved_ns"] == {"total": 0, "measured": 1}
    assert done.stdout == "0\n"


def test_a_stream_is_learnt_from_the_first_launches_behind_a_wait(starved):
    done = starved(
        "for _ in range(7): cuda.fake_wait(0)\ncuda.fake_launch(5)\ncuda.fake_wait(0)\ncuda.fake_launch(0)\n"
        "cuda.fake_set_busy(5, 1)\nt.item()\nidle(0.03)\ncuda.fake_launch(0)\n"
    )
    assert done.site("t.item()")["starved_ns"] == {"total": 0, "measured": 1}


@pytest.mark.parametrize(
    "before",
    [
        "",  # all streams are done
        "cuda.fake_set_busy(0, 1)\n",  # the one that was waited for does not count
        "cuda.fake_set_busy(5, 1)\ncuda.fake_set_captured(5, 1)\n",  # a captured stream has no work, and may not be asked
        "cuda.fake_destroy(5)\ncuda.fake_set_busy(5, 1)\n",  # nor may one that is gone
        "cuda.fake_set_busy(9, 1)\n",  # a stream that nobody saw
    ],
)
def test_only_streams_with_work_count(starved, before):
    done = starved(
        LEARN + before + "t.item()\nidle(0.03)\ncuda.fake_launch(0)\nprint(cuda.fake_wrongly_asked())\n"
    )
    assert done.site("t.item()")["starved_ns"]["total"] >= 30 * MS
    assert done.stdout == "0\n"


def test_a_wait_for_the_device_leaves_no_stream_busy(starved):
    done = starved(
        LEARN + "cuda.fake_set_busy(5, 1)\ntorch.cuda.synchronize()\nidle(0.03)\ncuda.fake_launch(0)\n"
    )
    assert done.site("torch.cuda.synchronize()")["starved_ns"]["total"] >= 30 * MS


def test_each_device_starves_by_itself(starved):
    done = starved(
        "t.item()\nidle(0.03)\ncuda.fake_set_context(2)\ncuda.fake_launch(0)\nidle(0.03)\ncuda.fake_set_context(1)\ncuda.fake_launch(0)\n"
    )
    assert done.site("t.item()")["starved_ns"]["total"] >= 60 * MS


def test_launches_cost_nothing_where_nothing_waits(starved):
    source = "for _ in range(500): cuda.fake_launch(0)\nprint(cuda.fake_delivered(b'cuLaunchKernel'))\n"
    assert starved(source).stdout == "0\n"


def test_after_a_wait_one_launch_is_seen_and_no_more(starved):
    done = starved(
        LEARNT + "seen = cuda.fake_delivered(b'cuLaunchKernel')\n"
        "for _ in range(10):\n    t.item()\n    for _ in range(100): cuda.fake_launch(0)\n"
        "print(cuda.fake_delivered(b'cuLaunchKernel') - seen)\n"
    )  # fmt: skip
    assert done.stdout == "10\n"


def test_a_program_that_waits_no_more_pays_no_longer(starved):
    done = starved(
        "t.item()\nfor _ in range(5000): cuda.fake_launch(0)\nprint(cuda.fake_delivered(b'cuLaunchKernel'))\n"
    )
    assert done.stdout == "512\n"


def test_only_the_ways_to_launch_that_are_used_are_switched(starved):
    done = starved(
        LEARNT + "cuda.fake_launch(0)\nbefore = cuda.fake_switches()\n"
        "for _ in range(10):\n    t.item()\n    cuda.fake_launch(0)\nprint(cuda.fake_switches() - before)\n"
    )  # fmt: skip
    assert done.stdout == "20\n"


def test_a_way_to_launch_that_is_used_later_is_learnt(starved):
    done = starved(
        "for _ in range(130):\n    t.item()\n    cuda.fake_launch(0)\n"
        "t.tolist()\ncuda.fake_graph(0)\nidle(0.03)\ncuda.fake_launch(0)\n"
        "for _ in range(64):\n    t.item()\n    cuda.fake_graph(0)\n    idle(0.002)\n    cuda.fake_launch(0)\n"
        "t.tolist()\ncuda.fake_graph(0)\nidle(0.03)\ncuda.fake_launch(0)\n"
    )  # fmt: skip
    lasted = [site["starved_ns"]["total"] for site in done.sites if site["expression"] == "t.tolist()"]
    assert sorted(total >= 30 * MS for total in lasted) == [False, True]


def test_without_the_option_no_callback_is_switched_while_the_program_runs(trace):
    source = (
        START
        + "before = cuda.fake_switches()\nfor _ in range(9):\n    t.item()\n    cuda.fake_launch(0)\nprint(cuda.fake_switches() - before)\n"
    )
    done = trace(source)
    assert done.stdout == "0\n"
    assert done.site("t.item()")["starved_ns"] is None
    assert "starved" not in done.stderr


def test_a_report_leads_with_it(run_trace, program):
    program(
        "import time\ndef step(t, cuda):\n    t.item()\n    time.sleep(0.02)\n    cuda.fake_launch(0)\n",
        "work.py",
    )
    source = START + "import work\nfor _ in range(4):\n    work.step(t, cuda)\n"
    done = run_trace([sys.executable, program(source)], ("--starved", "--step", "work:step"))
    lines = done.stderr.splitlines()
    assert ", and the GPU then idles for " in lines[0]
    assert lines[1].split()[:6] == ["per", "step", "GPU", "idle", "blocked", "of"]
    row = lines[2].split()
    assert float(row[1]) >= 20
    assert row[2] == "ms"
    assert any("without this sync a step could be shorter by up to" in line for line in lines)


@pytest.mark.parametrize("option", [("--simulate",), ("--detector", "debug-mode")])
def test_it_needs_cupti(trace, option):
    done = trace(START, "--starved", *option)
    assert done.status == 2
    assert done.stderr == "syncscan: --starved needs CUPTI: leave --simulate and --detector debug-mode out\n"


def test_the_timeline_of_the_profiler_is_read_as_a_trace_counts():
    from benchmarks.starved import idle_after, timeline  # noqa: PLC0415 (a script)

    events = [
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 0, "dur": 10},
        {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaStreamSynchronize",
            "ts": 5,
            "dur": 6,
        },  # to 11, and then idle
        {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaStreamSynchronize",
            "ts": 20,
            "dur": 1,
        },  # again, to 21
        {"ph": "X", "cat": "gpu_memcpy", "name": "m", "ts": 31, "dur": 20},
        {"ph": "X", "cat": "kernel", "name": "long", "ts": 32, "dur": 100},
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 60, "dur": 1},
        {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaStreamSynchronize",
            "ts": 60,
            "dur": 10,
        },  # while one is busy
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 200, "dur": 1},
        {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaDeviceSynchronize",
            "ts": 201,
            "dur": 9,
        },  # nothing follows
        {"ph": "M", "name": "process_name"},
    ]
    assert list(idle_after(*timeline(events))) == [10, 10]
