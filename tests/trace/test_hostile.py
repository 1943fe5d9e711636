"""`syncscan trace report` on files that others wrote: one line of error or a report, within bounds, and nothing quoted."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscan.report.safe_text import safe_lines

MACHINES = ("json", "jsonl", "speedscope", "chrome")
LIMITS = {resource.RLIMIT_CPU: 60, resource.RLIMIT_AS: 3 << 30}  # seconds and bytes
UNTIL_SEEN = str(Path(__file__).with_name("until_seen.py"))
many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def kept(trace, program):
    """The folder of a trace with something in every field that a report shows."""
    program("import torch\ntorch.zeros(1).item()\n", "child.py")
    program("import torch\ndef step():\n    torch.zeros(1).item()\n", "work.py")
    done = trace(
        f"""
        import os, subprocess, sys
        import syncscan
        import torch
        import work
        for _ in range(4):
            work.step()
        with syncscan.allow_sync("the scheduler needs it"):
            torch.zeros(2).tolist()
        for rank in "01":
            subprocess.run([sys.executable, "child.py"], env={{**os.environ, "RANK": rank}})
        subprocess.run([sys.executable, "-I", {UNTIL_SEEN!r}])
        hook = sys.modules["_syncscan_hook.start"].hook
        hook.note("a remark")
        hook._output.write(checked=dict(steps=3, waits=6, starved_ns=600_000, timeline_ns=660_000))
        raise SystemExit(3)
        """,
        "--step",
        "work:step",
        "--warmup",
        "1",
    )
    assert done.trace["steps"]["started"] == 4
    return done.folder


def test_the_trace_that_is_mutated_has_something_everywhere(kept, syncscan):
    trace = json.loads((kept / "trace.json").read_text())
    # which there are only without --step, with --lines, and with --simulate
    for name in ("proposed_step", "lines", "callees", "callers", "uncomputed", "decided"):
        del trace[name]
    empty = {place for place, value in places(trace) if value in (None, [], {}, "")}
    assert {place[0] for place in empty} <= {"sites", "processes", "worst_step", "timeline"}
    run = syncscan("trace", "report", kept)
    for text in (
        "4 steps",
        "checked in 3 steps (6 syncs): 220 us per step by the kernels' own timeline, 200 us by the launches",
        "allowed (the scheduler needs it)",
        "not hooked",
        "a remark",
        "exit status 3",
    ):
        assert text in run.stdout


def places(data: object, place: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], object]]:
    """Every place of plain data, and what is there."""
    if place:
        yield place, data
    if isinstance(data, (dict, list)):
        for name, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*place, name))


def put(data: object, place: tuple[object, ...], value: object) -> None:
    *way, last = place
    for name in way:
        data = data[name]
    if value is GONE:
        del data[last]
    elif isinstance(value, Named):
        if isinstance(data, dict):
            data[value.name] = data.pop(last)
    else:
        data[last] = value


@dataclass(frozen=True)
class Named:
    """Puts what is there under another name."""

    name: str


GONE = object()
MARK = "quoted"
NASTY = [
    "\x1b[31m",
    "\x9b",
    "\x7f",
    "\u202e",
    "\ud800",
    "\n::error::",
    "[/red]",
    "[link=x]",
    ":boom:",
    "\0",
    "٣",
    "²",
]
texts = st.lists(st.sampled_from([*NASTY, "a", "/", "9" * 30, "x" * 3000]), max_size=4).map(
    lambda parts: MARK + "".join(parts)
)
numbers = st.one_of(
    st.sampled_from([-1, 0, 1, 2**31, 2**63 - 1, 2**63, 10**400, 1e308, 1e-320, float("inf"), float("nan")]),
    st.integers(),
    st.floats(),
)
values = st.one_of(
    st.just(GONE),
    texts.map(Named),
    st.recursive(
        st.one_of(st.none(), st.booleans(), numbers, texts),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
        max_leaves=5,
    ),
)


def assert_shown_or_refused(run) -> None:
    """One line of error that quotes nothing, or a report that commands nothing of the terminal."""
    assert run.status in {0, 2}
    if run.status == 2:
        assert (run.stdout, run.stderr.count("\n")) == ("", 1)
        assert MARK not in run.stderr
    else:
        assert run.stderr == ""
        assert run.stdout == safe_lines(run.stdout)


@pytest.mark.long
@many
@given(data=st.data())
def test_a_trace_with_anything_anywhere_is_shown_or_refused(kept, syncscan, data):
    path = kept / "trace.json"
    original = path.read_bytes()
    trace = json.loads(original)
    for _ in range(data.draw(st.integers(1, 3))):
        place, _ = data.draw(st.sampled_from(list(places(trace))))
        put(trace, place, data.draw(values))
    path.write_text(json.dumps(trace))
    try:
        assert_shown_or_refused(syncscan("trace", "report", kept))
        for command in (
            ("trace", "report", "--output-format", data.draw(st.sampled_from(MACHINES)), kept),
            ("trace", "diff", kept, kept),
        ):
            run = syncscan(*command)
            assert (run.status, run.stderr.count("\n")) in {(0, 0), (2, 1)}
    finally:
        path.write_bytes(original)


@pytest.mark.long
@many
@given(data=st.data())
def test_a_trace_with_any_bytes_is_shown_or_refused(kept, syncscan, data):
    path = kept / "trace.json"
    original = path.read_bytes()
    try:
        path.write_bytes(data.draw(changed(original)))
        assert_shown_or_refused(syncscan("trace", "report", kept))
    finally:
        path.write_bytes(original)


def changed(original: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with a part replaced, or cut short."""
    at = st.integers(0, len(original))
    nasty = st.sampled_from(
        [b"\xff", b"\\ud800", b"[" * 200_000, b'"', b"\n", b"1e999", b"9" * 400, b"NaN", b"{"]
    )
    inserted = st.one_of(st.binary(max_size=20), nasty, st.just(b""))
    return st.builds(lambda a, b, new: original[: min(a, b)] + new + original[max(a, b) :], at, at, inserted)


@pytest.mark.long
@many
@given(data=st.data())
def test_what_a_process_wrote_with_anything_anywhere_is_put_together(kept, syncscan, data):
    (kept / "trace.json").unlink(missing_ok=True)
    part = max((kept / "parts").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    original = part.read_bytes()
    try:
        if data.draw(st.booleans()):
            part.write_bytes(data.draw(changed(original)))
        else:
            lines = [json.loads(line) for line in original.splitlines()]
            for _ in range(data.draw(st.integers(1, 3))):
                place, _ = data.draw(st.sampled_from(list(places(lines))))
                put(lines, place, data.draw(values))
            part.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert_shown_or_refused(syncscan("trace", "report", kept))
    finally:
        part.write_bytes(original)


def test_nothing_that_a_program_names_commands_the_terminal(
    run_trace, program, syncscan, monkeypatch, environment
):
    monkeypatch.setenv("COLUMNS", environment["COLUMNS"])
    name = "\x1b]0;title\x07\n::error::\u202e\x9b31m.py"
    script = program(
        f"""
        import sys, torch
        import syncscan
        def step(): torch.zeros(1).item(); "{NASTY[0]} \u202e"
        def function(): torch.zeros(2).item(); "{NASTY[0]}"
        function.__code__ = function.__code__.replace(co_name="a\\x1b[2Jb", **(
            dict(co_qualname="a\\x1b[2Jb") if sys.version_info >= (3, 11) else {{}}
        ))
        step(); step()
        function()
        with syncscan.allow_sync("\\x1b[2J"):
            torch.zeros(1).item()
    """,
        name,
    )
    command = [sys.executable, script, "\x1b[2J"]
    done = run_trace(command, ("--step", "__main__:step", "--max-syncs-per-step", "0"))
    assert done.stderr == safe_lines(done.stderr)
    assert "allowed (\\x1b[2J): 1 time" in done.stderr
    assert "\\x1b]0;title\\x07\\n::error::\\u202e\\x9b31m.py:4" in done.stderr
    assert syncscan("trace", "report", done.folder).stdout in done.stderr
    done = run_trace(command)
    assert done.stderr == safe_lines(done.stderr)
    assert "in a\\x1b[2Jb" in done.stderr


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(path.parent)  # the names of sockets are short
        listener.bind(path.name)


def folder(path: Path) -> None:
    path.mkdir()


def one_long_line(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def nested(path: Path) -> None:
    path.write_bytes(b"[" * 200_000)


def a_long_number(path: Path) -> None:
    path.write_text('{"version": ' + "7" * 400 + ', "sites": [], "processes": []}\n')


def a_half_character(path: Path) -> None:
    path.write_text('{"version": 1, "sites": ["\\ud800quoted"], "processes": []}\n')


def many_entries(path: Path) -> None:
    path.write_text('{"version": 1, "processes": [], "sites": [' + "{}," * 7_000_000 + "{}]}\n")


def many_lines(path: Path) -> None:
    header = '{"syncscan_process": 1, "pid": 1, "ppid": 1, "started_ns": 1, "argv": "00"}\n'
    path.write_text(header + "".join(f'{{"note": "{number}"}}\n' for number in range(300_000)))


HOSTILE = [
    fifo,
    endless,
    unix_socket,
    folder,
    one_long_line,
    nested,
    a_long_number,
    a_half_character,
    many_entries,
    many_lines,
]


@pytest.fixture
def bounded(environment, tmp_path, monkeypatch, warm):
    """Runs syncscan as a process that may use little time and memory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return warm.run(*arguments, cwd=tmp_path, env=environment, limits=LIMITS)

    return run


@pytest.mark.parametrize("make", HOSTILE)
def test_a_hostile_file_for_a_trace_is_one_line(bounded, tmp_path, make):
    make(tmp_path / "trace.json")
    done = bounded("trace", "report", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"syncscan: {tmp_path}/trace.json: ")
    assert MARK not in done.stderr


@pytest.mark.parametrize("make", HOSTILE)
def test_a_hostile_file_beside_those_of_the_processes_hides_nothing(bounded, trace, make):
    kept = trace("import torch\ntorch.zeros(1).item()\n").folder
    (kept / "trace.json").unlink()
    make(kept / "parts" / "1-1.jsonl")
    done = bounded("trace", "report", kept)
    assert (done.returncode, done.stderr) == (0, "")
    assert "was blocked 1 time at 1 site" in done.stdout


@pytest.mark.parametrize("make", [fifo, endless, unix_socket, folder])
@pytest.mark.parametrize("name", ["parts/options", "trace.json", "parts"])
def test_a_trace_is_not_written_into_what_is_none(bounded, tmp_path, make, name):
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    make(path)
    done = bounded("trace", "-o", tmp_path / "out", "--", "true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith("; name another folder\n")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.new", "parts/operations", "parts/options"])
def test_nothing_is_written_through_a_link_in_an_earlier_trace(bounded, trace, tmp_path, name):
    kept = trace("").folder
    other = tmp_path / "other"
    other.write_text("detector\tmine\n")
    (kept / name).unlink(missing_ok=True)
    (kept / name).symlink_to(other)
    done = bounded("trace", "--simulate", "-o", kept, "--", "true")
    assert (done.returncode, other.read_text()) == (0, "detector\tmine\n"), done.stderr


def test_a_source_that_is_no_file_is_not_read(bounded, trace, tmp_path):
    """A trace names the sources of its lines; the reports quote them where they are files."""
    (tmp_path / "pipe.py").symlink_to("/dev/zero")
    kept = trace("import torch\nexec(compile('import torch\\ntorch.zeros(1).item()', 'pipe.py', 'exec'))\n")
    assert kept.status == 0
    assert "pipe.py:2" in kept.stderr
