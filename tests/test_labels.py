"""The known waits are well formed, and the benchmark counts them right."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan.rule import rule_book

ROOT = Path(__file__).resolve().parent.parent
LABELS = ROOT / "benchmarks" / "labels"

SOURCE = '''\
import torch

t = torch.zeros(8, device="cuda")
a = t.sum(
).item()
b = t.tolist()
print(len(t))
if False:
    c = t.cpu()
'''  # fmt: skip


def is_place(path: str) -> bool:
    return path.endswith(".py") and not path.startswith("/") and len(Path(path).parts) > 1


@pytest.mark.parametrize("name", ["seeds", "train"])
def test_labels_are_places_in_releases(name):
    labels = json.loads((LABELS / f"{name}.json").read_text())
    for release, places in labels.items():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", release)
        assert len({Path(place["path"]).parts[0] for place in places}) == 1
        for place in places:
            assert place.keys() == {"path", "line", "lines", "rule", "change"}
            assert is_place(place["path"])
            assert place["line"] > 0
            assert place["lines"] > 0
            assert place["rule"] in rule_book()
            assert re.fullmatch(
                r"https://github\.com/[\w.-]+/[\w.-]+/(pull/\d+|commit/[0-9a-f]+)", place["change"]
            )
    assert sum(map(len, labels.values())) == {"seeds": 22, "train": 50}[name]


def test_lines_that_waited_ran():
    ran = json.loads((LABELS / "ran.json").read_text())
    counts = {"ran": 0, "waited": 0}
    for release, files in ran.items():
        assert {Path(path).parts[0] for path in files} == {release.partition("==")[0]}
        for path, lines in files.items():
            assert is_place(path)
            assert lines.keys() == {"ran", "waited"}
            numbers = {which: expand(lines[which]) for which in lines}
            assert set(numbers["waited"]) <= set(numbers["ran"])
            for which, found in numbers.items():
                assert found == sorted(set(found))
                counts[which] += len(found)
    assert counts == {"ran": 27009, "waited": 124}


def expand(ranges: str) -> list[int]:
    pairs = [[int(end) for end in part.split("-")] for part in ranges.split()]
    return [number for pair in pairs for number in range(pair[0], pair[-1] + 1)]


@pytest.fixture
def benchmark(project, tmp_path):
    """Runs the benchmark on a release that is there already, with labels of its own."""
    project({"sources/tiny-1.0/tiny/work.py": SOURCE, "sources/tiny-1.0/setup.py": SOURCE})

    def run(*arguments: str, **known: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "labels").mkdir()
        for name in ("seeds", "train", "ran"):
            (tmp_path / "labels" / f"{name}.json").write_text(json.dumps(known.get(name, {})))
        script = [
            sys.executable,
            ROOT / "benchmarks" / "labels.py",
            "--labels",
            "labels",
            "--sources",
            "sources",
        ]
        return subprocess.run(
            [*script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


def label(line: int, lines: int = 1, path: str = "tiny/work.py") -> dict[str, object]:
    return {"path": path, "line": line, "lines": lines, "rule": "SYN101", "change": f"change {line}"}


def test_a_label_is_found_where_a_finding_begins_in_its_statement(benchmark):
    seeds = {"tiny==1.0": [label(4, lines=2), label(5), label(7)]}
    train = {"tiny==1.0": [label(6), label(6, path="tiny/other.py")]}
    done = benchmark("--missed", seeds=seeds, train=train)
    first, *lines = done.stdout.splitlines()
    assert re.fullmatch(r"tiny==1\.0: 3 findings in \d+ s", first)
    assert lines == [
        "    seeds: 1 of 3 (33%) labels found",
        "        missed tiny/work.py:5 SYN101 change 5",
        "        missed tiny/work.py:7 SYN101 change 7",
        "    train: 1 of 2 (50%) labels found",
        "        missed tiny/other.py:6 SYN101 change 6",
        "",
        "seeds: 1 of 3 (33%) labels found",
        "train: 1 of 2 (50%) labels found",
    ]


CALLED = """\
import torch


def longest(lens: torch.Tensor, others: torch.Tensor) -> int:
    return int(lens.max()) + others.sum().item()


def first(n: int) -> int:
    lens = torch.ones(n, device="cuda")
    return longest(lens, torch.ones(n))


def second(n: int) -> int:
    lens = torch.ones(n, device="cuda")
    return longest(lens, torch.ones(n))


def assumed(lens_gpu) -> list[int]:
    return lens_gpu.tolist()


class Server:
    def __init__(self) -> None:
        self.start = torch.ones(1, device="cuda").tolist()
"""


def test_of_what_is_missed_is_said_which_finding_names_it_and_as_what_it_is_found(benchmark, tmp_path):
    (tmp_path / "sources/tiny-1.0/tiny/called.py").write_text(CALLED)
    path = "tiny/called.py"
    train = {"tiny==1.0": [label(line, path=path) for line in (5, 10, 15, 19, 24, 1)]}
    assert benchmark("--missed", train=train).stdout.splitlines()[1:-2] == [
        "    train: 1 of 6 (17%) labels found; 2 more are named by a finding elsewhere",
        "        missed tiny/called.py:10 SYN101 change 10 (named by tiny/called.py:5)",
        "        missed tiny/called.py:15 SYN101 change 15 (named by tiny/called.py:5)",
        "        missed tiny/called.py:19 SYN101 change 19 (found as assumed, unknown)",
        "        missed tiny/called.py:24 SYN101 change 24 (found as proved, once)",
        "        missed tiny/called.py:1 SYN101 change 1",
    ]


def test_waiting_lines_lie_in_findings_and_findings_on_lines_that_ran_waited(benchmark):
    """The finding of line 9 never ran; that of lines 4 and 5 waited in its second; that of line 6 did not wait."""
    done = benchmark("--missed", ran={"tiny==1.0": {"tiny/work.py": {"ran": "1-8", "waited": "5 7"}}})
    assert done.stdout.splitlines()[1:] == [
        "    ran: 1 of 2 (50%) blocking lines found; 1 of 2 (50%) findings on lines that ran blocked",
        "        missed tiny/work.py:7",
        "",
        "ran: 1 of 2 (50%) blocking lines found; 1 of 2 (50%) findings on lines that ran blocked",
    ]


def test_a_release_without_labels_is_named(benchmark):
    done = benchmark("huge==2.0", seeds={"tiny==1.0": [label(4)]})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nothing is known of huge==2.0; there are tiny==1.0\n"


@pytest.mark.parametrize(
    "sample", ["judged.tsv", "judged_again.tsv", "judged_unseen.tsv", "judged_fresh.tsv"]
)
def test_a_judged_sample_is_whole_and_adds_up(sample):
    command = [sys.executable, str(ROOT / "benchmarks" / "sample.py"), "score", str(LABELS / sample)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in (LABELS / sample).read_text().splitlines()]
    places = {(*row[:4], row[5]) for row in rows[1:]}
    assert len(places) == len(rows) - 1
    for _, path, line, code, when, _, blocks, runs, note in rows[1:]:
        assert is_place(path)
        assert int(line) > 0
        assert code in rule_book()
        assert when in {"step", "unknown"}
        assert blocks in {"yes", "no"}
        assert runs in {"step", "once", "untold"}
        assert note or (blocks == "yes" and runs != "once")
    blocking = sum(row[6] == "yes" for row in rows[1:])
    assert f"all: {blocking} of {len(rows) - 1} " in answer.stdout


def test_the_judged_entries_are_whole_and_add_up():
    command = [sys.executable, str(ROOT / "benchmarks" / "sample.py"), "entries"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in (LABELS / "entries.tsv").read_text().splitlines()[1:]]
    for _, entry, path, line, code, act, note in rows:
        assert 1 <= int(entry) <= 20
        assert is_place(path)
        assert int(line) > 0
        assert code in rule_book()
        assert (act, bool(note)) in {("yes", False), ("no", True)}
    act = sum(row[5] == "yes" for row in rows)
    assert f"all: {act} of {len(rows)} " in answer.stdout
