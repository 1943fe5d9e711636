"""Traces for other viewers: speedscope, Perfetto, JSON lines."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from syncscan.report.trace_formats import TRACE_FORMATS
from tests.report.conftest import make_process, make_site, make_trace, outside

TIMELINE = {
    "pid": 100,
    "rank": 3,
    "steps": [["steady", "MainThread", 1_700_000_000_000_000_000, 8_000_000, 1, 20_000]],
    "waits": [
        [1, "MainThread", 1_700_000_000_000_500_000, 20_000],
        [0, "Worker", 1_700_000_000_000_600_000, 5_000],
    ],
}


@pytest.fixture
def shown(keep, syncscan):
    """What `syncscan trace report --output-format NAME` prints of a trace."""

    def run(name: str, trace) -> str:
        done = syncscan("trace", "report", "--output-format", name, keep("trace", trace))
        assert (done.status, done.stderr) == (0, "")
        return done.stdout

    return run


def test_json_lines_are_the_trace_and_its_sites(shown):
    trace = make_trace(make_site(10), outside(20))
    first, *sites = map(json.loads, shown("jsonl", trace).splitlines())
    assert first.pop("kind") == "trace"
    assert first == {name: value for name, value in trace.items() if name not in ("sites", "timeline")}
    assert [site.pop("kind") for site in sites] == ["site", "site"]
    assert sites == trace["sites"]


@pytest.mark.parametrize("name", [name for name in TRACE_FORMATS if name != "text"])
def test_no_format_gives_a_terminal_a_control(shown, name):
    stack = {"count": 10, "frames": ["/code/a\x7f.py:10:step"]}
    site = make_site(10, expression="x\x7f\x1b\x9b.item()", stacks=[stack])
    assert not set("\x7f\x1b\x9b") & set(shown(name, make_trace(site) | {"timeline": [TIMELINE]}))


def test_speedscope_has_a_profile_by_blocked_time_and_one_by_waits(shown):
    odd = "C:\\x:y/a:b.py:12:A.f:g"
    stacks = [{"count": 30, "frames": ["/code/engine.py:10:Engine.step", odd]},
              {"count": 10, "frames": ["/code/engine.py:10:Engine.step"]}]  # fmt: skip
    data = json.loads(shown("speedscope", make_trace(make_site(10, count=80, total=800, stacks=stacks))))
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = data["shared"]["frames"]
    blocked, waits = data["profiles"]
    assert (blocked["name"], blocked["unit"], blocked["weights"], blocked["endValue"]) == (
        "blocked", "nanoseconds", [600, 200], 800,
    )  # fmt: skip
    assert (waits["name"], waits["unit"], waits["weights"]) == ("syncs", "none", [60, 20])
    # Outermost first, and innermost the expression.
    assert [frames[i] for i in blocked["samples"][0]] == [
        {"name": "A.f:g", "file": "C:\\x:y/a:b.py", "line": 12},
        {"name": "Engine.step", "file": "/code/engine.py", "line": 10},
        {"name": "self.t10.item()", "file": "/code/engine.py", "line": 10},
    ]


def test_a_simulated_trace_has_no_profile_of_times(shown):
    data = json.loads(shown("speedscope", make_trace(make_site(10, total=0))))
    assert [profile["name"] for profile in data["profiles"]] == ["syncs"]


def test_chrome_events_are_the_steps_and_waits_by_process_and_thread(shown):
    data = json.loads(
        shown("chrome", make_trace(make_site(10), make_site(20, code=None), timeline=[TIMELINE]))
    )
    events = [event for event in data["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["ts"], event["dur"]) for event in events] == [
        ("steady step", 1_700_000_000_000_000.0, 8_000.0),
        ("self.t20.item()", 1_700_000_000_000_500.0, 20.0),
        ("self.t10.item()", 1_700_000_000_000_600.0, 5.0),
    ]
    names = {
        event["tid"]: event["args"]["name"] for event in data["traceEvents"] if event["name"] == "thread_name"
    }
    assert [names[event["tid"]] for event in events] == [
        "MainThread: steps",
        "MainThread: syncs",
        "Worker: syncs",
    ]
    assert events[1]["args"]["where"] == "/code/engine.py:20"
    assert data["traceEvents"][0]["args"]["name"] == "syncscan: rank 3 (pid 100)"


def test_several_traces_are_shown_as_one(keep, syncscan):
    check = {"steps": 3, "waits": 6, "starved_ns": 600_000, "timeline_ns": 660_000}
    first = make_trace(make_site(10), outside(20), timeline=[TIMELINE], starved_check=check)
    second = make_trace(
        make_site(30),
        make_site(10, rank="1", total=4_000_000, count=200, per_step=2.0, api="cudaStreamSynchronize"),
        processes=[make_process(rank=1, pid=7)], exit_status=3, timeline=[TIMELINE | {"rank": 1}], starved_check=check,
    )  # fmt: skip
    keep("all/node0", first)
    folder = keep("all/node1", second).parent
    whole = json.loads(syncscan("trace", "report", "--output-format", "json", folder).stdout)
    assert whole["steps"] == {**first["steps"], "started": 204, "steady": 200, "wall_ns": 1_600_000_000}
    assert whole["exit_status"] == 3
    assert whole["starved_check"] == {name: 2 * value for name, value in check.items()}
    assert [process["rank"] for process in whole["processes"]] == [0, 1]
    sites = {site["line"]: site for site in whole["sites"]}
    assert list(sites) == [10, 30, 20]
    assert (sites[10]["count"], sites[10]["per_step"]) == (300, 1.5)
    assert sites[10]["step_spread"]["syncs"] == pytest.approx(0.5)
    assert (sites[10]["ranks"], sites[10]["rank_ns"]) == (
        {"0": 100, "1": 200},
        {"0": 2_000_000, "1": 4_000_000},
    )
    assert sites[10]["blocked_ns"]["histogram"] == {"100": 300}
    # The sites of the timeline are those of the whole.
    assert [[wait[0] for wait in process["waits"]] for process in whole["timeline"]] == [[2, 0], [0, 1]]


def test_the_rows_of_several_traces_add_up_to_the_headline(keep, syncscan):
    starved = {"starved_ns": {"total": 500_000, "measured": 100}}
    first = keep("all/node0", make_trace(make_site(10), make_site(20, total=800_000, **starved)))
    keep("all/node1", make_trace(make_site(10, rank="1"), processes=[make_process(rank=1, pid=7)]))
    headline, _, *lines = syncscan("trace", "report", first.parent).stdout.splitlines()
    assert "300 syncs in 200 steady steps of engine:Engine.step, 1.5 per step; " in headline
    assert "is blocked for 24 us (0.3%), and the GPU then idles for 2.5 us" in headline
    rows = [line.split("SYN101")[0].split() for line in lines if "SYN101" in line]
    assert rows == [["0.5", "2.5", "us", "4", "us", "0.1%"], ["1", "-", "20", "us", "0.2%"]]


def test_a_rank_of_several_traces_is_named(keep, syncscan):
    first = keep("run1", make_trace(make_site(10)))
    second = keep("run2", make_trace(make_site(10), processes=[make_process(rank=None), make_process()]))
    third = keep("run3", make_trace(make_site(10), processes=[make_process(rank=1)]))
    remark = (
        "rank 0 is in several of the traces, and its counts are added up; if these are different runs, "
        "`syncscan trace diff` compares two"
    )
    assert remark in " ".join(syncscan("trace", "report", first, second).stdout.split())
    assert "several of the traces" not in syncscan("trace", "report", first, third).stdout


def test_processes_without_ranks_are_told_apart_by_their_folder(keep, syncscan):
    for node in "ab":
        folder = keep(
            f"all/{node}", make_trace(make_site(10, rank="pid 100"), processes=[make_process(rank=None)])
        )
    whole = json.loads(syncscan("trace", "report", "--output-format", "json", folder.parent).stdout)
    assert whole["sites"][0]["ranks"] == {"all/a pid 100": 100, "all/b pid 100": 100}


def test_a_folder_without_traces_is_one_line(tmp_path, syncscan):
    (tmp_path / "empty").mkdir()
    done = syncscan("trace", "report", "empty")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "syncscan: empty: no trace.json here; `syncscan trace -o empty -- ...` makes one\n"


def test_the_ranks_that_wait_and_the_one_that_is_waited_for_are_named(keep, syncscan):
    for rank, total in enumerate([40_000_000, 2_000_000, 45_000_000, 90_000_000]):
        site = make_site(10, rank=str(rank), total=total)
        keep(f"all/{rank}", make_trace(site, processes=[make_process(rank=rank, pid=rank)]))
    done = syncscan("trace", "report", "all")
    assert "of 4 ranks, rank 3 is blocked longest: 90 ms, the median 42.5 ms" in done.stdout.splitlines()
    assert (
        "rank 1 holds the others up at /code/engine.py:10: it is blocked there for 2 ms, the others for 45 ms each (median)"
        in done.stdout.splitlines()
    )


def test_ranks_that_are_alike_are_not_named(keep, syncscan):
    for rank, total in enumerate([40_000_000, 41_000_000, 39_000_000]):
        site = make_site(10, rank=str(rank), total=total)
        keep(f"all/{rank}", make_trace(site, processes=[make_process(rank=rank, pid=rank)]))
    assert "is waited for" not in syncscan("trace", "report", "all").stdout


@pytest.fixture
def ranks(keep):
    """A folder of 40 traces, which several processes read."""
    for number in range(40):
        sites = [
            make_site(10, count=100 + number, rank=f"pid {number % 3}"),
            make_site(100 + number, count=1),
            outside(300 + number % 7),
        ]
        keep(f"all/{number:02}", make_trace(*sites, processes=[make_process(rank=number, pid=number)]))
    return "all"


@pytest.mark.parametrize("processors", [1, 2, 5])
def test_many_traces_are_one_however_many_processes_read_them(ranks, syncscan, monkeypatch, processors):
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    whole = json.loads(syncscan("trace", "report", "--output-format", "json", ranks).stdout)
    assert whole["steps"]["steady"] == 4000
    assert [process["rank"] for process in whole["processes"]] == list(range(40))
    first, *others = whole["sites"]
    assert (first["line"], first["count"], first["per_step"]) == (10, 100 * 40 + 780, 1.195)
    assert first["ranks"] == {f"all/{number:02} pid {number % 3}": 100 + number for number in range(40)}
    lines = [site["line"] for site in others]
    assert sorted(lines) == [*range(100, 140), *range(300, 307)]
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert json.loads(syncscan("trace", "report", "--output-format", "json", ranks).stdout) == whole


def test_what_is_said_of_many_traces_is_said_once(keep, syncscan):
    for number in range(40):
        keep(f"all/{number:02}", make_trace(make_site(10), processes=[make_process(rank=number % 4)]))
    assert syncscan("trace", "report", "all").stdout.count("is in several of the traces") == 1


def test_one_wrong_trace_of_many_is_one_line_and_leaves_no_process(ranks, syncscan, tmp_path):
    (tmp_path / ranks / "37" / "trace.json").write_text("{")
    before = children()
    done = syncscan("trace", "report", ranks)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "syncscan: all/37/trace.json: not JSON or cut short; run the trace again\n"
    assert children() == before


def children() -> str:
    """The processes that this one started, ended ones that nobody waited for among them."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()
