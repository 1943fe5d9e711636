"""`syncscan prove` as a command: reports, exit statuses, ratchets and settings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.report.conftest import make_trace

PROGRAM = """\
import torch


class Runner:
    def __init__(self, n: int, log: bool) -> None:
        self.n = n
        self.log = log

    def step(self, x: torch.Tensor) -> torch.Tensor:
        if self.log:
            print(x)
        return self.scaled(x)

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.n
"""
ENTRY = "engine:Runner.step"
QUIET = "engine:Runner.log = False"
Write = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture(autouse=True)
def _engine(project: Write) -> None:
    project({"engine.py": PROGRAM})


def test_what_is_proved_exits_with_status_0(syncscan: Command) -> None:
    done = syncscan("prove", "engine:Runner.scaled")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "proved: no call reachable from engine:Runner.scaled synchronizes (1 function)\n"
    )


def test_an_obstacle_is_named_with_its_place_and_what_would_exclude_it(syncscan: Command) -> None:
    done = syncscan("prove", ENTRY)
    assert done.status == 1
    assert "engine.py:11:13:" in done.stdout
    assert "excluded by: " in done.stdout
    assert (
        "not proved: engine:Runner.step reaches 1 obstacle in 2 functions: 1 may synchronize" in done.stdout
    )


def test_an_assumption_is_listed_where_it_is_used(syncscan: Command) -> None:
    done = syncscan("prove", ENTRY, "--assume", QUIET)
    assert done.status == 0
    assert f"  - {QUIET}\n" in done.stdout


def test_a_configuration_of_the_settings_is_named(syncscan: Command, project: Write) -> None:
    project({"pyproject.toml": f'[tool.syncscan.configurations]\nquiet = ["{QUIET}"]\n'})
    assert syncscan("prove", ENTRY, "--assume", "quiet").status == 0
    wrong = syncscan("prove", ENTRY, "--assume", "quite")
    assert (wrong.status, "did you mean 'quiet'?" in wrong.stderr) == (2, True)


def test_a_class_is_no_entry_point(syncscan: Command) -> None:
    done = syncscan("prove", "engine:Runner")
    assert done.status == 2
    assert "'Runner' is a class; write it as engine:Runner.METHOD" in done.stderr


def test_json(syncscan: Command) -> None:
    found = json.loads(syncscan("prove", ENTRY, "--output-format", "json").stdout)
    assert (found["version"], found["entry_point"], found["proved"], found["functions"]) == (
        1,
        ENTRY,
        False,
        2,
    )
    assert found["counts"] == {"synchronizes": 0, "may synchronize": 1, "unknown callee": 0}
    (obstacle,) = found["obstacles"]
    assert (obstacle["path"], obstacle["line"], obstacle["group"]) == ("engine.py", 11, "may synchronize")
    assert obstacle["fact"]
    assert obstacle["call_chain"] == ["Runner.step"]


def test_html(syncscan: Command) -> None:
    page = syncscan("prove", ENTRY, "--output-format", "html").stdout
    assert page.startswith("<!doctype html>")
    for text in (
        f"Is {ENTRY} free of synchronization?",
        "not proved: ",
        "assuming that annotations hold",
        "unknown callee",
    ):
        assert text in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_sarif(syncscan: Command) -> None:
    (run,) = json.loads(syncscan("prove", ENTRY, "--output-format", "sarif").stdout)["runs"]
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 11


def test_a_report_goes_into_a_file(syncscan: Command, tmp_path: Path) -> None:
    done = syncscan("prove", ENTRY, "-o", "proof.txt")
    assert (done.status, done.stdout) == (1, "")
    assert "not proved" in (tmp_path / "proof.txt").read_text()


@pytest.mark.parametrize(("most", "status"), [(0, 1), (1, 0), (2, 0)])
def test_a_number_of_obstacles_may_be_allowed(syncscan: Command, most: int, status: int) -> None:
    assert syncscan("prove", ENTRY, "--max-obstacles", most).status == status


def test_a_baseline_knows_obstacles(syncscan: Command, project: Write) -> None:
    assert syncscan("prove", ENTRY, "--write-baseline", "known.json").status == 1
    known = syncscan("prove", ENTRY, "--baseline", "known.json")
    assert (known.status, "1 in the baseline" in known.stdout) == (0, True)
    assert not known.stdout.startswith("proved")
    project({"engine.py": PROGRAM.replace("x * self.n", "x * x.item()")})
    assert syncscan("prove", ENTRY, "--baseline", "known.json").status == 1


def test_a_baseline_that_is_written_is_named(syncscan: Command) -> None:
    done = syncscan("prove", ENTRY, "--write-baseline", "known.json")
    assert done.stderr == "syncscan: known.json has 1 finding\n"


def test_an_assumption_that_nothing_depends_on_is_named(syncscan: Command) -> None:
    used = syncscan("prove", ENTRY, "--assume", QUIET)
    unused = syncscan("prove", "engine:Runner.scaled", "--assume", QUIET)
    assert (used.status, used.stderr) == (0, "")
    assert unused.stderr.startswith(
        f"syncscan: --assume {QUIET!r}: nothing that engine:Runner.scaled reaches"
    )


@pytest.mark.parametrize(
    ("known", "is_refused"),
    [
        ("", True),
        ("def other(each: Runner) -> None:\n    each.lgo = True\n", False),
        ("class Own(Runner):\n    lgo: bool\n", True),
        ("def other(each: Runner) -> None:\n    setattr(each, each.n, 1)\n", False),
    ],
)
def test_an_assumption_about_an_attribute_that_is_never_set_is_refused(
    syncscan: Command, project: Write, known: str, is_refused: bool
) -> None:
    project({"engine.py": PROGRAM + known})
    done = syncscan("prove", ENTRY, "--assume", "engine:Runner.lgo = False")
    assert (done.status == 2) is is_refused
    assert ("did you mean 'Runner.log'?" in done.stderr) is is_refused


SETTINGS = """
class Settings:
    def __init__(self, **options) -> None:
        self.size = options.pop("size", None)
        self.names = options.pop("names", [])


def step(settings: Settings, x) -> int:
    if settings.size is not None and 0.0 < settings.size < 1 or max(settings.names, 3) == 2:
        return 1
    return 1 if x > 3 else 2
"""


def test_attributes_of_a_class_may_be_assumed_to_be_plain(syncscan: Command, project: Write) -> None:
    project({"engine.py": SETTINGS})

    def lines(*options: str) -> set[int]:
        done = syncscan("prove", "engine:step", "--output-format", "json", *options)
        return {each["line"] for each in json.loads(done.stdout)["obstacles"]}

    assert lines() == {9, 11}
    assert lines("--assume", "engine:Settings.*.is_plain = True") == {11}
    assert lines("--assume", "engine:step.x.is_plain = True") == {9}
    wrong = syncscan("prove", "engine:step", "--assume", "engine:Settings.*.is_plain = False")
    assert (wrong.status, "only `is_plain = True` is a fact" in wrong.stderr) == (2, True)


def test_a_stored_proof_of_a_run_follows_the_trace_and_what_ran(
    syncscan: Command, project: Write, tmp_path: Path
) -> None:
    def obstacles(lines: list[list[int]], **files: str) -> set[int]:
        project({f"{name}.py": text for name, text in files.items()})
        folder = tmp_path / "trace"
        folder.mkdir(exist_ok=True)
        (folder / "trace.json").write_text(json.dumps(make_trace(lines={"engine.py": lines})))
        results = [
            syncscan("prove", ENTRY, "--given", "trace", "--output-format", "json", *options).stdout
            for options in ((), (), ("--no-cache",))
        ]
        assert results[0] == results[1] == results[2]
        return {each["line"] for each in json.loads(results[0])["obstacles"]}

    whole, without = [[1, 16]], [[1, 10], [12, 16]]
    assert obstacles(without, engine=PROGRAM, other="") == set()
    assert obstacles(whole, engine=PROGRAM) == {11}
    assert obstacles(without, engine=PROGRAM, other="x = 1\n") == set()  # nothing in this file ran
    assert obstacles(without, engine=PROGRAM.replace("x * self.n", "x if x else x")) == {15}


def test_a_proof_of_a_run_is_of_the_folder_that_it_is_asked_from(project: Write, tmp_path: Path) -> None:
    places = [project({f"{name}/engine.py": PROGRAM}) / name for name in ("a", "b")]
    trace = make_trace(lines={f"{places[0]}/engine.py": [[1, 16]]})
    command = [sys.executable, "-m", "syncscan", "prove", ENTRY, "--given", "trace"]
    found = []
    for place in reversed(places):
        (place / "trace").mkdir()
        (place / "trace" / "trace.json").write_text(json.dumps(trace))
        cached = [*command, "--cache-dir", str(tmp_path / "cache")]
        found.append(subprocess.run(cached, cwd=place, capture_output=True, check=False).returncode)
    assert found == [0, 1]  # nothing ran of the files in the other folder


def test_a_trace_without_lines_is_refused(syncscan: Command, tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    done = syncscan("prove", ENTRY, "--given", "trace")
    assert (done.status, "no trace.json here" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["engine"], "names no function"),
        (["motor:run"], "no module 'motor' was read"),
        (["engine:Runner.stop"], "did you mean 'Runner.step'?"),
        ([ENTRY, "absent"], "absent: "),
        ([ENTRY, "--assume", "motor:Runner.log = False"], "no module 'motor' was read; write it as"),
        ([ENTRY, "--cache-dir", "a", "--no-cache"], "give one of them"),
        ([ENTRY, "--baseline", "a", "--write-baseline", "b"], "give one of them"),
    ],
)
def test_what_cannot_be_meant_is_refused(syncscan: Command, arguments: list[str], message: str) -> None:
    done = syncscan("prove", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_stand_in_for_torch_has_no_entry_point(syncscan: Command, project: Callable[..., Path]) -> None:
    project({"torch/__init__.py": "def f():\n    pass\n"})
    done = syncscan("prove", "torch:f")
    assert (done.status, done.stdout) == (2, "")
    assert "'torch' stands in for a package of the operation table, which no proof follows" in done.stderr


def test_help_has_examples(syncscan: Command) -> None:
    assert "syncscan prove engine.runner:Runner.step" in syncscan("prove", "--help").stdout


def test_each_run_says_the_same(syncscan: Command) -> None:
    assert syncscan("prove", ENTRY).stdout == syncscan("prove", ENTRY).stdout
