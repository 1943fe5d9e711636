"""What counts as a wait, which detector sees it, and that the program does not notice."""

from __future__ import annotations

import sys

import pytest

MIB = 1024 * 1024


def test_each_wait_counts_once_at_its_expression(trace):
    done = trace("""
        import torch
        t = torch.zeros(3)
        for _ in range(4):
            total = 1 + t.item() + len("é")
            t.tolist()
            t.add()
            t.upload(0, 1000, 0)
            t.upload(0, 4 << 20, 1)
            torch.cuda.synchronize()
    """)
    assert done.counts() == {
        "t.item()": 4,
        "t.tolist()": 4,
        "t.upload(0, 1000, 0)": 4,
        "t.upload(0, 4 << 20, 1)": 4,
        "torch.cuda.synchronize()": 4,
    }
    item = done.site("t.item()")
    assert (item["line"], item["column"], item["end_column"]) == (5, 17, 25)
    assert (item["code"], item["api"], item["function"]) == ("SYN101", "cudaStreamSynchronize", "<module>")
    assert item["blocked_ns"]["total"] >= 4 * 50_000
    assert item["blocked_ns"]["p50"] <= item["blocked_ns"]["p99"] <= 1.1 * item["blocked_ns"]["max"]
    assert done.site("torch.cuda.synchronize()")["code"] == "SYN401"
    assert done.trace["processes"][0]["detectors"] == ["cupti"]


@pytest.mark.parametrize(
    ("pinned", "size", "waits"),
    [(0, 64 * 1024, False), (0, MIB, False), (0, MIB + 1, True), (1, 100 * MIB, False)],
)
def test_an_asynchronous_upload_counts_if_it_is_pageable_and_too_big_to_stage(trace, pinned, size, waits):
    done = trace(f"import torch\ntorch.zeros(1).upload({pinned}, {size}, 1)\n")
    assert [site["api"] for site in done.sites] == (["cudaMemcpyAsync"] if waits else [])


def test_debug_mode_sees_what_torch_warns_of(trace):
    done = trace(
        "import torch\nt = torch.zeros(1)\nt.item()\ntorch.cuda.synchronize()\n", "--detector", "debug-mode"
    )
    assert done.counts() == {"t.item()": 1}
    assert done.sites[0]["detectors"] == ["debug-mode"]
    assert done.sites[0]["blocked_ns"]["total"] == 0
    assert "was blocked 1 time at 1 site in 1 process" in done.stderr


def test_both_detectors_make_one_event_and_say_which_missed_it(trace):
    done = trace(
        "import torch\nt = torch.zeros(1)\nt.item()\nt.tolist()\ntorch.cuda.synchronize()\n",
        "--detector",
        "both",
    )
    assert done.counts() == {"t.item()": 1, "t.tolist()": 1, "torch.cuda.synchronize()": 1}
    seen = {site["expression"]: (site["detectors"], site["missed_by"]) for site in done.sites}
    assert seen["t.item()"] == (["cupti", "debug-mode"], [])
    assert seen["torch.cuda.synchronize()"] == (["cupti"], ["debug-mode"])


def test_where_another_profiler_holds_cupti_debug_mode_takes_over(trace):
    done = trace("import torch\ntorch.zeros(1).item()\n", FAKE_CUPTI_BUSY="1")
    assert done.status == 0
    assert done.sites[0]["detectors"] == ["debug-mode"]
    assert "another profiler holds CUPTI; debug mode watches, and times nothing" in done.stderr


def test_cupti_gives_way_to_the_programs_own_profiler(trace):
    done = trace("""
        import sys, types
        import torch
        profiler = sys.modules["torch.autograd.profiler"] = types.ModuleType("profiler")
        profiler._prepare_profiler = lambda: print("free", not torch._library.fake_subscribed())
        t = torch.zeros(1)
        t.item()
        profiler._prepare_profiler()
        t.item()
    """)
    assert done.stdout == "free True\n"
    assert [site["detectors"] for site in done.sites] == [["cupti"], ["debug-mode"]]
    assert "profiler took CUPTI over" in done.stderr


HOSTILE = """
import warnings
import torch
t = torch.zeros(1)
def read(): t.item()
read()
warnings.simplefilter("error")
read()
warnings.filterwarnings("error", message="called a synchronizing")
read()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    read()
warnings.resetwarnings()
read(); read()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    read()
read()
print(len(caught), [str(w[0]) for w in warnings.filters[1:]])
"""


@pytest.mark.parametrize("flags", [(), ("-W", "error"), ("-W", "ignore")])
def test_debug_mode_is_proof_against_warning_filters(run_trace, program, flags):
    done = run_trace([sys.executable, *flags, program(HOSTILE)], ("--detector", "debug-mode"))
    assert done.status == 0, done.stderr
    assert done.counts() == {"t.item()": 8}
    assert done.stdout == "0 []\n"
    assert "UserWarning" not in done.stderr


def test_a_program_that_sets_the_mode_sees_its_own_warnings_and_mode(trace):
    done = trace(
        """
        import warnings
        import torch
        t = torch.zeros(1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            t.item()
            torch.cuda.set_sync_debug_mode("warn")
            t.item()
            t.item()
            torch.cuda.set_sync_debug_mode("default")
            t.item()
        print(len(caught), torch.cuda.get_sync_debug_mode())
        """,
        "--detector",
        "debug-mode",
    )
    assert done.stdout == "2 0\n"
    assert sum(done.counts().values()) == 4
    assert "the program set the CUDA sync debug mode to 1; the trace goes on" in done.stderr


def test_cupti_is_left_before_the_interpreter_goes(trace):
    done = trace("import torch\ntorch.zeros(1).item()\n")
    assert "left subscribed" not in done.stderr
    assert done.counts() == {"torch.zeros(1).item()": 1}


def test_waits_in_an_exit_handler_registered_by_the_program_count(trace):
    done = trace("import atexit, torch\nt = torch.zeros(1)\natexit.register(t.item)\n")
    assert sum(done.counts().values()) == 1


def test_a_hook_that_fails_says_so_once_and_the_program_goes_on(trace):
    done = trace("""
        import sys
        import torch
        t = torch.zeros(1)
        sys.modules["_syncscan_hook.start"].hook.recorder.entries = None
        for _ in range(3):
            t.item()
        print("done")
    """)
    assert (done.status, done.stdout) == (0, "done\n")
    assert done.stderr.count("tracing stops here: the CUPTI callback failed") == 1


def test_threads_are_told_apart(trace):
    done = trace("""
        import threading
        import torch
        t = torch.zeros(1)
        def read(number):
            for _ in range(number):
                t.item()
        threads = [threading.Thread(target=read, args=(n,), name=f"reader {n}") for n in range(1, 9)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        read(1)
    """)
    assert done.site("t.item()")["count"] == 37
    assert done.site("t.item()")["threads"]["reader 8"] == 8


def test_the_innermost_line_outside_torch_is_blamed_or_the_one_asked_for(run_trace, program, tmp_path):
    program("def read(t):\n    return t.item()\n", "helper.py")
    script = program("import torch, helper\nhelper.read(torch.zeros(1))\n")
    done = run_trace([sys.executable, script])
    assert done.sites[0]["path"] == str(tmp_path / "helper.py")
    done = run_trace([sys.executable, script], ("--exclude", "*/helper.py"))
    assert done.sites[0]["expression"] == "helper.read(torch.zeros(1))"
    done = run_trace([sys.executable, script], ("--include", "*/program.py"))
    assert done.sites[0]["line"] == 2
    assert [frame.split("/")[-1] for frame in done.sites[0]["stacks"][0]["frames"]] == [
        "helper.py:2:read",
        "program.py:2:<module>",
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--exclude", "helper.py"),
        ("--exclude", "h*"),
        ("--include", "program.py"),
        ("--include", "./no/*", "--include", "prog*"),
    ],
)
def test_the_files_to_blame_are_told_from_the_working_folder(run_trace, program, options):
    program("def read(t):\n    return t.item()\n", "helper.py")
    done = run_trace(
        [sys.executable, program("import torch, helper\nhelper.read(torch.zeros(1))\n")], options
    )
    assert [site["expression"] for site in done.sites] == ["helper.read(torch.zeros(1))"]


@pytest.mark.parametrize("options", [("--exclude", "*"), ("--include", "elsewhere/*")])
def test_no_line_is_blamed_against_the_patterns(run_trace, program, options):
    done = run_trace([sys.executable, program("import torch\ntorch.zeros(1).item()\n")], options)
    (site,) = done.sites
    assert (site["path"], site["expression"], site["count"]) == ("<not blamed>", "", 1)
    assert "<not blamed> in lines that --include and --exclude leave out" in done.stderr
