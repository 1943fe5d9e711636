"""Reading a trace again, whole or not; and its text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.trace.hook._syncscan_hook.entry import bucket
from syncscan.trace.store import bucket_ns, quantile


@given(st.integers(min_value=0, max_value=10**12))
def test_a_histogram_bucket_is_right_within_seven_percent(duration):
    assert abs(bucket_ns(bucket(duration)) - duration) <= 0.07 * duration


@given(st.lists(st.integers(min_value=1, max_value=10**10), min_size=1, max_size=50))
def test_quantiles_are_those_of_the_durations(durations):
    histogram: dict[int, int] = {}
    for duration in durations:
        histogram[bucket(duration)] = histogram.get(bucket(duration), 0) + 1
    ordered = sorted(durations)
    median = ordered[(len(ordered) + 1) // 2 - 1]
    assert abs(quantile(histogram, 0.5) - median) <= 0.07 * median + 1
    assert abs(quantile(histogram, 1.0) - ordered[-1]) <= 0.07 * ordered[-1] + 1


@pytest.fixture
def report(environment, tmp_path, warm):
    """Runs ``syncscan trace report``: (status, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        done = warm.run("trace", "report", *arguments, cwd=tmp_path, env=environment)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_kept_trace_is_shown_again(trace, report):
    done = trace("import torch\ntorch.zeros(1).item()\n")
    assert report(done.folder) == (0, done.stderr, "")
    status, out, _ = report("--output-format", "json", done.folder)
    assert (status, json.loads(out)) == (0, done.trace)


def test_a_report_names_the_command_and_its_exit_status(trace, report):
    done = trace("import torch\ntorch.zeros(1).item()\nraise SystemExit(3)\n")
    _, out, _ = report(done.folder)
    assert f"\n`{' '.join(done.trace['command'])[:80]}` ended with exit status 3\n" in out


def test_in_a_pipe_a_sentence_is_one_line_and_nothing_trails(trace, report, environment):
    done = trace("import torch\ntorch.zeros(1).item()\n")
    environment["COLUMNS"] = "60"
    _, out, _ = report(done.folder)
    assert out.splitlines()[0].endswith(" in 1 process")
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_what_is_the_same_of_many_processes_is_said_once(trace, report):
    done = trace("""
        import os, sys
        import torch
        for _ in range(3):
            if os.fork() == 0:
                torch.zeros(1).item()
                sys.modules["_syncscan_hook.start"].hook.note("the same {of} each")
                os._exit(0)
        for _ in range(3):
            os.wait()
    """)
    isolated = [
        {
            "pid": number,
            "hooked": False,
            "argv": ["python", "-I", str(number)],
            "why": "-I ignores PYTHONPATH",
        }
        for number in range(1000)
    ]
    other = {
        "pid": 7,
        "hooked": False,
        "argv": ["python", "-S", "x"],
        "why": "-S starts without sitecustomize",
    }
    done.trace["processes"] += [*isolated, other]
    (done.folder / "trace.json").write_text(json.dumps(done.trace))
    first = next(process for process in done.trace["processes"] if process.get("notes"))
    _, out, _ = report(done.folder)
    assert [line for line in out.splitlines() if "process " in line or "processes, " in line] == [
        f"3 processes, such as {first['pid']} ({' '.join(first['argv'])[:80]}): the same {{of}} each",
        "not hooked: 1000 processes, such as 0 (python -I 0): -I ignores PYTHONPATH",
        "not hooked: process 7 (python -S x): -S starts without sitecustomize",
    ]


def test_a_trace_whose_launcher_was_killed_is_put_together(trace, report):
    done = trace("import torch\ntorch.zeros(1).item()\n")
    (done.folder / "trace.json").unlink()
    status, out, _ = report(done.folder)
    assert status == 0
    assert "was blocked 1 time at 1 site" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no trace.json here"),
        ("", "not JSON or cut short; run the trace again"),
        ('{"version": 1, "sites": [', "not JSON or cut short; run the trace again"),
        ("[1, 2]", "not a trace of syncscan"),
        ('{"version": 1}', "not a trace of syncscan"),
        ('{"version": 9, "sites": [], "processes": []}', "version 9 of the format; this syncscan reads 1"),
        ('{"version": 1, "sites": [{}], "processes": [{}]}', "not a trace of syncscan"),
    ],
)
def test_a_file_that_is_no_trace_gives_one_line(report, tmp_path, content, message):
    if content is not None:
        (tmp_path / "trace.json").write_text(content)
    status, out, err = report(tmp_path)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_part_that_is_cut_short_or_foreign_keeps_the_rest(trace, report):
    done = trace("import torch\nt = torch.zeros(1)\nt.item()\n")
    (done.folder / "trace.json").unlink()
    (part,) = (done.folder / "parts").glob("*.jsonl")
    part.write_text(part.read_text() + '{"counts": [[0, 99')
    (done.folder / "parts" / "1-2.jsonl").write_text("not ours\n")
    (done.folder / "parts" / "3-4.jsonl").write_text("")
    (done.folder / "parts" / "5-6.jsonl").write_text('{"syncscan_process": 1, "pid": 5}\n')
    header = '{"syncscan_process": 1, "pid": "x", "ppid": 1, "started_ns": 8, "argv": "00"}\n'
    (done.folder / "parts" / "7-8.jsonl").write_text(header)
    status, out, _ = report(done.folder)
    assert status == 0
    assert "was blocked 1 time at 1 site" in out


def test_a_place_is_told_with_its_code_and_what_to_write_instead(trace, tmp_path):
    done = trace("import torch\nt = torch.zeros(1)\nfor _ in range(3):\n    t.item()\n")
    lines = [line.strip() for line in done.stderr.splitlines()]
    assert lines[1].split() == ["syncs", "blocked", "of", "wall", "code", *lines[1].split()[5:]]
    row = next(line.split() for line in lines if "SYN101" in line)
    assert row[2] in {"us", "ms"}
    assert (row[0], row[4]) == ("3", "SYN101")
    # Paths are told from the working folder.
    assert row[5:] == ["program.py:4", "in", "<module>"]
    assert "t.item()" in lines
    assert any(line.startswith("suggestion: read `t.item()` once, before the loop") for line in lines)


@pytest.mark.parametrize("separator", ["\x0c", "\u2028", "\x1c", "\x85", "\r\n", "\r"])
def test_lines_are_those_of_python(trace, tmp_path, program, separator):
    program("", "child.py").write_bytes(f"import torch\n# {separator}#\ntorch.zeros(1).item()\n".encode())
    done = trace("import child\n")
    assert done.counts() == {"torch.zeros(1).item()": 1}


def test_the_last_line_of_a_file_needs_no_end(trace, program):
    program("", "child.py").write_text("import torch\ntorch.zeros(1).item()")
    done = trace("import child\n")
    assert done.counts() == {"torch.zeros(1).item()": 1}


def test_the_durations_of_a_place_are_in_order_and_as_long_as_its_waits(trace):
    done = trace("import torch\nt = torch.zeros(1)\nfor _ in range(20):\n    t.item()\n")
    (site,) = done.trace["sites"]
    blocked = site["blocked_ns"]
    assert 0 < blocked["p50"] <= 1.07 * blocked["p99"] <= 1.15 * blocked["max"]
    assert blocked["p99"] >= 0.93 * blocked["total"] / 20  # as it is nearly the longest
    assert site["threads"] == {"MainThread": 20}
