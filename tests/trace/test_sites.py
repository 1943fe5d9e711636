"""From the waits that processes wrote to sites: whose line is blamed, what makes two waits one, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from syncscan.ops import load_table
from syncscan.trace.sites import Blame, Site, Sources, collect, head, in_torch, phase_of, spot, to_json
from syncscan.trace.store import Frame, Process, Wait

TORCH = "/lib/torch"
INNER = Frame(f"{TORCH}/_tensor.py", "item", 7, None, None, None)
USER = Frame("/srv/loop.py", "step", 3, None, None, None)
OUTER = Frame("/srv/main.py", "main", 9, None, None, None)
WAIT = Wait(
    1, (INNER, USER, OUTER), "cudaStreamSynchronize:out", "steady", None, None,
    count=4, total_ns=400, longest_ns=150, paired=0, warned=0, histogram={6: 3, 7: 1}, threads={"MainThread": 4},
    squares=(8.0, 40_000.0),
)  # fmt: skip


def process(*waits: Wait, **more: Any) -> Process:
    more = {"torch": {"folder": TORCH}, "detectors": ["cupti"], "steps": {"steady": 2}, **more}
    return Process(11, 1, 0, ["run"], waits=list(waits), **more)


def sites_of(*processes: Process, blame: Blame = Blame()) -> list[Site]:  # noqa: B008 (it never changes)
    return collect(processes, blame, Sources(load_table()))[0]


def site_of(*waits: Wait, **more: Any) -> Site:
    (site,) = sites_of(process(*waits, **more))
    return site


def test_the_innermost_line_outside_torch_is_blamed() -> None:
    def blamed(frames: Sequence[Frame], **patterns: Any) -> str:
        return Blame(**patterns).choose(frames, TORCH).path

    frames = (INNER, USER, OUTER)
    assert blamed(frames) == USER.path
    assert blamed((INNER,)) == INNER.path
    assert blamed(()) == "<no Python>"
    assert (Blame().choose((), TORCH).line, Blame(include=("no",)).choose(frames, TORCH).line) == (0, 0)
    assert blamed(frames, exclude=("/srv/loop.py",)) == OUTER.path
    assert blamed(frames, include=("*/main.py",)) == OUTER.path
    assert blamed(frames, include=("*/main.py", "*/loop.py")) == USER.path
    assert blamed(frames, include=("/srv/*",), exclude=("*main*", "*loop*")) == "<not blamed>"
    assert blamed(frames, include=("*/_tensor.py",)) == INNER.path
    assert blamed(frames, include=("main.py",), folder="/srv") == OUTER.path
    assert blamed(frames, exclude=("loop.py",), folder="/srv") == OUTER.path
    assert blamed(frames, exclude=("loop.py",)) == USER.path


def test_a_line_of_the_standard_library_is_blamed_where_no_line_outside_it_is_there() -> None:
    library = "/lib/python3.12"
    logging = Frame(f"{library}/logging/__init__.py", "getMessage", 5, None, None, None)
    runpy = Frame("<frozen runpy>", "_run_code", 88, None, None, None)
    package = Frame(f"{library}/site-packages/serve.py", "serve", 2, None, None, None)

    def blamed(*frames: Frame, node: Any = None, **patterns: Any) -> str:
        here = process(replace(WAIT, frames=frames, node=node), torch={"folder": TORCH, "library": library})
        (site,) = sites_of(here, blame=Blame(**patterns))
        return site.place.path

    assert blamed(INNER, logging, USER, OUTER) == USER.path
    assert blamed(INNER, logging, INNER, logging, package, OUTER) == package.path
    assert blamed(INNER, logging, runpy) == logging.path
    assert blamed(INNER, logging, USER, include=("*/logging/*",)) == logging.path
    lines = ('File "/srv/model.py", line 5, in forward', f'File "{logging.path}", line 5, in getMessage')
    assert blamed(INNER, node=("MulBackward0", lines)) == "/srv/model.py"


def test_generated_code_is_blamed_where_no_line_with_a_source_is_there() -> None:
    generated = Frame("<string>", "__create_fn__.<locals>.__eq__", 4, None, None, None)
    cell = Frame("<ipython-input-3-abc>", "<module>", 2, None, None, None)
    shell = Frame("<string>", "<module>", 1, None, None, None)

    def blamed(*frames: Frame) -> Frame:
        return Blame().choose(frames, TORCH, "/lib/python3.12", {cell.path})

    assert blamed(INNER, generated, USER, OUTER) is USER
    assert blamed(INNER, generated, cell) is cell
    assert blamed(INNER, generated, INNER) is generated
    assert blamed(INNER, shell) is shell
    assert blamed(INNER, shell, USER, shell) is shell


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        (f"{TORCH}/nn/functional.py", TORCH, True), ("/lib/torchvision/a.py", TORCH, False),
        ("<frozen importlib._bootstrap>", "", True), ("/srv/a.py", "", False), ("/nn/functional.py", "", False),
    ],
)  # fmt: skip
def test_what_is_a_file_of_torch(path: str, folder: str, inside: bool) -> None:
    assert in_torch(path, folder) is inside


def test_copies_that_a_wait_for_the_stream_completed_are_one_with_it() -> None:
    def called(**changes: Any) -> str:
        return site_of(replace(WAIT, api="cudaMemcpyAsync:out", **changes)).place.api

    assert [called(paired=paired) for paired in (0, 3, 4, 5)] == [
        "cudaMemcpyAsync", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaStreamSynchronize",
    ]  # fmt: skip


def test_the_call_is_told_apart_from_its_way_and_its_remarks() -> None:
    def place(api: str) -> tuple[str, bool, bool]:
        found = site_of(replace(WAIT, api=api)).place
        return found.api, found.breaks_graph, found.uncomputed

    assert place("a") == place("a:out") == ("a", False, False)
    assert place("a:out:graph") == ("a", True, False)
    assert place("a::uncomputed") == ("a", False, True)
    assert place("a:in:graph:uncomputed") == ("a", True, True)
    assert place("a:graph") == ("a", False, False)


def test_in_backward_the_forward_line_is_blamed() -> None:
    lines = (
        '  File "/srv/main.py", line 21, in main\n    y = model(x)',
        '  File "/srv/model.py", line 5, in forward\n    return f(x)',
        f'  File "{TORCH}/nn/functional.py", line 8, in f\n    pass',
        "no line of a file",
    )
    wait = replace(WAIT, node=("MulBackward0", tuple(line.strip() for line in lines)))
    site = site_of(wait)
    assert (site.place.path, site.place.line, site.place.function) == ("/srv/model.py", 5, "forward")
    assert (site.place.column, site.place.end_line, site.place.node) == (None, None, "MulBackward0")
    (outer,) = sites_of(process(wait), blame=Blame(exclude=("*model.py",)))
    assert (outer.place.path, outer.place.line) == ("/srv/main.py", 21)
    (none,) = sites_of(process(wait), blame=Blame(include=("*/loop.py",)))
    assert (none.place.path, none.place.line) == ("/srv/loop.py", 3)
    assert site_of(replace(WAIT, node=("MulBackward0", ()))).place.path == USER.path


@pytest.mark.parametrize(
    ("path", "phase"),
    [
        ("/lib/torch/_dynamo/convert_frame.py", "compile"), ("/lib/torch/_inductor/codecache.py", "compile"),
        ("/lib/triton/runtime/autotuner.py", "compile"), ("/lib/torch/cuda/graphs.py", "capture"),
        ("/lib/torch/_inductor/cudagraph_trees.py", "capture"), ("/lib/torch/_tensor.py", "steady"),
    ],
)  # fmt: skip
def test_what_compiles_or_captures_is_no_step(path: str, phase: str) -> None:
    frame = replace(INNER, path=path)
    assert phase_of(replace(WAIT, frames=(USER, frame, OUTER))) == phase
    place = site_of(replace(WAIT, frames=(USER, frame, OUTER))).place
    assert (place.phase, place.in_step) == (phase, True)
    assert site_of(replace(WAIT, phase="outside", frames=(USER, frame))).place.in_step is False


def test_outside_of_steps_all_is_steady_and_no_part_of_one() -> None:
    outside = site_of(replace(WAIT, phase="outside"))
    assert (outside.place.phase, outside.place.in_step, outside.per_step) == ("steady", False, None)
    warmup = site_of(replace(WAIT, phase="warmup"))
    assert (warmup.place.phase, warmup.place.in_step, warmup.per_step) == ("warmup", True, None)
    assert site_of(WAIT).per_step == 2
    assert site_of(WAIT, steps=None).per_step is None
    assert to_json(outside, [])["step_spread"] is None


def test_a_site_adds_up_what_its_waits_were() -> None:
    more = replace(
        WAIT, number=2, frames=(USER, OUTER), count=2, total_ns=50, longest_ns=200, paired=1, warned=5,
        histogram={6: 2}, threads={"worker": 2}, starved=(2, 30), squares=(2.0, 1250.0),
    )  # fmt: skip
    site = site_of(WAIT, more, replace(more, number=3, warned=0, starved=(1, 12), paired=0), rank=3)
    assert (site.count, site.total_ns, site.longest_ns, site.paired, site.warned) == (8, 500, 200, 1, 2)
    assert (site.starved, site.ranks, site.rank_ns) == ((3, 42), {"3": 8}, {"3": 500})
    assert site.histogram == {6: 7, 7: 1}
    assert site.threads == {"MainThread": 4, "worker": 4}
    assert site.detectors == {"cupti", "debug-mode"}
    assert site.per_step == 4
    shown = to_json(site, [])
    assert shown["starved_ns"] == {"total": 42, "measured": 3}
    assert shown["blocked_ns"] == {
        "total": 500,
        "max": 200,
        "p50": 6,
        "p99": 7,
        "histogram": {6: 7, 7: 1},
    }
    assert [stack["count"] for stack in shown["stacks"]] == [4, 4]
    assert shown["stacks"][1]["frames"] == ["/srv/loop.py:3:step", "/srv/main.py:9:main"]
    assert to_json(site_of(WAIT), [])["starved_ns"] is None


def test_processes_without_a_rank_go_by_their_number_and_steps_are_those_of_each() -> None:
    first, second = process(WAIT), process(replace(WAIT, total_ns=800), steps={"steady": 6})
    (site,) = sites_of(first, replace(second, pid=12))
    assert (site.ranks, site.rank_ns) == ({"pid 11": 4, "pid 12": 4}, {"pid 11": 400, "pid 12": 800})
    assert site.per_step == 1
    spread = to_json(site, [])["step_spread"]
    assert (spread["syncs"], spread["blocked_ns"]) == pytest.approx((1, 28.8675))
    assert sites_of(process(replace(WAIT, paired=4)))[0].rank_ns == {"pid 11": 400}


def test_sites_stand_by_the_time_that_they_blocked_and_each_wait_finds_its_own() -> None:
    other, often = replace(WAIT, number=2, api="b", total_ns=900), replace(WAIT, number=3, api="c", count=5)
    last = replace(WAIT, number=1, api="b")
    sites, of_wait = collect([process(WAIT, other, often), process(last)], Blame(), Sources(load_table()))
    assert [site.place.api for site in sites] == ["b", "c", "cudaStreamSynchronize"]
    assert {key: site.place.api for key, site in of_wait.items()} == {
        (0, 1): "cudaStreamSynchronize", (0, 2): "b", (0, 3): "c", (1, 1): "b",
    }  # fmt: skip
    with pytest.raises(FrozenInstanceError):
        sites[0].place.line = 2  # type: ignore[misc]  # what is frozen refuses
    with pytest.raises(FrozenInstanceError):
        Blame().folder = "/"  # type: ignore[misc]  # what is frozen refuses


@pytest.mark.parametrize(
    ("detectors", "api", "warned", "by", "missed"),
    [
        (["cupti"], "cudaStreamSynchronize", 0, ["cupti"], []),
        (["cupti"], "cudaMemcpyAsync", 0, ["cupti"], ["debug-mode"]),
        (["cupti"], "cudaMemcpyAsync", 1, ["cupti", "debug-mode"], []),
        (["cupti", "debug-mode"], "cudaStreamSynchronize", 0, ["cupti"], ["debug-mode"]),
        (["cupti", "debug-mode"], "cudaStreamSynchronize", 1, ["cupti", "debug-mode"], []),
        (["debug-mode"], "debug-mode", 0, ["debug-mode"], []),
        (["cupti", "debug-mode"], "debug-mode", 0, ["debug-mode"], []),
        (["simulated"], "debug-mode", 0, ["simulated"], []),
    ],
)
def test_what_saw_a_wait_and_what_did_not(
    detectors: list[str], api: str, warned: int, by: list[str], missed: list[str]
) -> None:
    run = process(replace(WAIT, api=api, warned=warned), detectors=detectors)
    shown = to_json(sites_of(run)[0], [run])
    assert (shown["detectors"], shown["missed_by"]) == (by, missed)


SOURCE = "import torch\nx = torch.ones(2, device='cuda')\ny = 'äö', x.tolist(\n    )  # all\nwith f(x[0:1],\n       g):\n    pass\n"


def test_the_text_of_a_place_is_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(SOURCE, encoding="utf-8")

    def site(line: int, column: int | None, end_line: int | None, end_column: int | None) -> Site:
        return site_of(replace(WAIT, frames=(Frame(str(path), "f", line, column, end_line, end_column),)))

    one = site(3, 12, 4, 5)
    assert (one.expression, one.place.column, one.place.end_column) == ("x.tolist( )", 11, 6)
    shown, unnamed = to_json(one, []), to_json(site(7, 4, 7, 8), [])
    assert (shown["code"], shown["name"], bool(shown["instead"])) == ("SYN102", "list-read", True)
    assert (unnamed["code"], unnamed["name"], unnamed["instead"]) == (None, None, None)
    assert site(3, 4, 3, 10).expression == "'äö'"
    assert site(2, None, None, None).expression == "x = torch.ones(2, device='cuda')"
    assert site(2, 4, 2, None).expression == "x = torch.ones(2, device='cuda')"
    assert site(5, 0, 7, 8).expression == "with f(x[0:1], g):"
    assert site(7, 4, 7, 8).expression == "pass"
    for line, end in ((0, 1), (9, 9), (3, 2), (7, 12)):
        assert site(line, 0, end, 4).expression == ""
    beyond = site(9, 3, 9, None).place
    assert (beyond.column, beyond.end_column) == (4, None)
    assert site(8, 0, 8, 0).expression == ""
    assert site(0, 0, 0, 0).code is None
    path.unlink()
    assert (site(3, 12, 4, 5).expression, site(3, 12, 4, 5).code) == ("", None)


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (["if x > 0:", "    pass"], ["if x > 0:"]),
        (["if x > 0: y()"], ["if x > 0:"]),
        (["x = {1: 2}", "y"], ["x = {1: 2}", "y"]),
        (["while f(lambda a: a, {1: 2},", "  b[1:2]): pass"], ["while f(lambda a: a, {1: 2},", "  b[1:2]):"]),
        (["  for i in lambda: 1: pass"], ["  for i in lambda: 1:"]),
        (["if (lambda: lambda: 1)(): pass"], ["if (lambda: lambda: 1)():"]),
        (["with f(", "  x"], ["with f(", "  x"]),
        (["withdraw(x): int"], ["withdraw(x): int"]),
        (["async with f(x) as y: pass"], ["async with f(x) as y:"]),
        (["if x[{1: 2}[1]:] : pass"], ["if x[{1: 2}[1]:] :"]),
    ],
)
def test_of_a_compound_statement_what_stands_before_its_body(lines: list[str], first: list[str]) -> None:
    assert head(lines) == first


def test_a_place_that_has_no_line_is_told_alone() -> None:
    assert (spot("a.py", 3), spot("<no Python>", 0)) == ("a.py:3", "<no Python>")


@pytest.mark.parametrize("options", [(), ("--include", "*.py")])
def test_stacks_beyond_the_bound_are_counted_under_a_name_of_their_own(trace, options):
    done = trace(
        """
        import sys, torch
        sys.modules["_syncscan_hook.record"].MAX_ENTRIES = 5
        t = torch.zeros(1)
        for n in range(30):
            exec(compile("t.item()", f"{n}.py", "exec"))
        """,
        *options,
    )
    counts = {site["path"]: site["count"] for site in done.sites}
    assert sum(counts.values()) == 30
    assert counts.pop("<other stacks>") == 15
    assert set(counts) == {f"{n}.py" for n in range(15)}
    assert "<other stacks> in stacks beyond the first 60,000" in done.stderr, done.stderr
    assert "<no Python>" not in done.stderr


def test_stacks_beyond_the_bound_of_deep_ones_still_reach_the_program(trace):
    done = trace(
        """
        import sys, torch
        sys.modules["_syncscan_hook.record"].MAX_ENTRIES = 5
        names = {"t": torch.zeros(1)}
        exec(compile("def read(): return t.item()", "helper.py", "exec"), names)
        codes = [compile("read()", f"{n}.py", "exec") for n in range(14)]
        def call(code, depth=20):
            call(code, depth - 1) if depth else exec(code, names)
        for code in [*codes[:10], *codes[10:], *codes[5:10]]:
            call(code)
        """,
        "--exclude",
        "*helper.py",
    )
    counts = {site["path"]: site["count"] for site in done.sites}
    assert counts == {f"{n}.py": 2 if n >= 5 else 1 for n in range(10)} | {"<not blamed>": 4}
