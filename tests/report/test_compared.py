"""``syncscan compare`` and ``check --trace``: findings against what ran."""

from __future__ import annotations

import json
import sys

import pytest

PROGRAM = """\
import torch


def step(x, often):
    total = x.sum().item()
    if often:
        x.tolist()
    y = torch.zeros(3, device="cuda")
    keep(y)
    return total, [x.cpu()]


def keep(y):
    if len(y) > 5:
        print(y.max().item())
    index = [0, 1]
    y[index] = 0.0


def missed(make):
    return make().item()


for _ in range(3):
    step(torch.ones(3, device="cuda"), False)
missed(getattr(torch, "one" + "s").__call__.__self__ and (lambda: eval("torch.ones(1, device='cuda')")))
"""


@pytest.fixture(scope="module")
def run(warm):
    """Runs syncscan in a folder."""
    return lambda folder, *arguments: warm.run(*arguments, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run):
    """A project that was checked and traced, with the lines that ran as a newer Python would have recorded them."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "program.py").write_text(PROGRAM)
    checked = run(folder, "check", "program.py", "--output-format", "json", "--when", "all")
    (folder / "check.json").write_text(checked.stdout)
    done = run(folder, "trace", "--simulate", "-o", "trace", "--", sys.executable, "program.py")
    assert done.returncode == 0, done.stderr
    kept = json.loads((folder / "trace" / "trace.json").read_text())
    assert kept["lines"] is None
    ran = {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line and "tolist" not in line}
    ran.discard(15)
    kept["lines"] = {str(folder / "program.py"): [[number, number] for number in sorted(ran)]}
    (folder / "lines").mkdir()
    (folder / "lines" / "trace.json").write_text(json.dumps(kept))
    return folder


def compared(run, folder, *arguments):
    done = run(folder, *arguments, "--output-format", "json")
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_each_finding_was_confirmed_ran_in_silence_or_never_ran(folder, run):
    found = compared(run, folder, "check", "program.py", "--when", "all", "--trace", "lines")
    statuses = {row["line"]: (row["status"], row["count"]) for row in found["findings"]}
    assert statuses[5] == ("confirmed", 3)
    assert statuses[7] == ("never ran", 0)
    assert statuses[15] == ("never ran", 0)
    assert found["findings"][0]["status"] == "confirmed"
    assert found["knows_lines"] is True


def test_each_wait_was_predicted_or_missed_and_the_shares_follow(folder, run):
    found = compared(run, folder, "check", "program.py", "--when", "all", "--trace", "lines")
    predicted = {wait["line"]: wait["predicted"] for wait in found["waits"]}
    assert predicted[5] is True
    assert predicted[21] is False
    whole = found["whole"]
    confirmed = [row for row in found["findings"] if row["status"] == "confirmed"]
    ran = [row for row in found["findings"] if row["status"] in {"confirmed", "ran and did not block"}]
    assert (whole["confirmed"], whole["ran"]) == (len(confirmed), len(ran))
    assert whole["recall"] == sum(predicted.values()) / len(predicted)
    assert found["by_rule"]["SYN101"]["waits"] == 2
    assert found["by_rule"]["SYN101"]["recall"] == 0.5
    assert list(found["by_folder"]) == ["."]


def test_without_lines_nothing_is_said_of_precision(folder, run):
    found = compared(run, folder, "check", "program.py", "--when", "all", "--trace", "trace")
    assert {row["status"] for row in found["findings"]} == {"confirmed", "not seen to block"}
    assert found["knows_lines"] is False
    text = run(folder, "check", "program.py", "--when", "all", "--trace", "trace").stdout
    assert "trace with --lines, under Python 3.12 or newer" in text
    assert "precision" not in text.splitlines()[0]
    rows = [line.split() for line in text.splitlines() if line.startswith("SYN101")]
    assert [row[1:] for row in rows] == [["-", "1", "of", "2", "(50%)"]]


def test_the_text_has_what_waited_first_and_what_was_missed(folder, run):
    done = run(folder, "check", "program.py", "--when", "all", "--trace", "lines")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("syncscan: ")
    assert "confirmed" in lines[1]
    assert any(line.startswith("missed") and "program.py:21 make().item()" in line for line in lines)
    assert any(line.startswith("SYN101") and "1 of 2 (50%)" in line for line in lines)


def test_check_compares_what_it_finds_at_once(folder, run):
    whole = compared(run, folder, "check", "program.py", "--when", "all", "--trace", "lines")
    done = run(folder, "check", "program.py", "--when", "all", "--trace", "lines", "--output-format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == whole


def test_several_traces_are_one(folder, run):
    found = compared(
        run, folder, "check", "program.py", "--when", "all", "--trace", "lines", "--trace", "lines"
    )
    assert {row["line"]: row["count"] for row in found["findings"]}[5] == 6
    assert (
        compared(run, folder, "check", "program.py", "--when", "all", "--trace", "lines", "--trace", "trace")[
            "knows_lines"
        ]
        is False
    )


def test_a_trace_of_another_place_is_matched_by_the_end_of_its_paths(folder, tmp_path, run):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "program.py").write_text(PROGRAM)
    trace = (folder / "lines" / "trace.json").read_text().replace(str(folder), "/srv/site-packages/pkg")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "trace.json").write_text(trace)
    found = compared(run, tmp_path, "check", "pkg", "--when", "all", "--trace", "there")
    assert {row["line"]: row["count"] for row in found["findings"]}[5] == 3
    assert found["outside"] == 0


BAD = {
    "absent": (None, "bad.json: cannot be read: no such file or directory"),
    "cut-short": (
        '{"version": 1',
        "bad.json: not JSON or cut short; make it with `syncscan check --output-format json`",
    ),
    "foreign": ("[]", "bad.json: not the JSON of `syncscan check`: not an object"),
    "other": (
        '{"version": 1, "files": {"checked": 1}, "findings": [{}]}',
        "bad.json: not the JSON of `syncscan check`: .findings[0].code: missing",
    ),
    "of-nothing": (
        '{"version": 1, "files": {"checked": 0}, "findings": []}',
        "bad.json: the check read no file; run it again on the sources that were traced",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_check_gets_one_line(folder, name, run):
    text, message = BAD[name]
    (folder / "bad.json").unlink(missing_ok=True)
    if text is not None:
        (folder / "bad.json").write_text(text)
    done = run(folder, "compare", "bad.json", "lines")
    assert (done.returncode, done.stdout) == (2, "")
    renamed, error = done.stderr.splitlines()
    assert renamed.startswith("syncscan: `syncscan compare` is now `syncscan check --trace`")
    assert error.replace("findings[0]", ".findings[0]").replace("..", ".") == f"syncscan: {message}"


def test_fixes_and_traces_exclude_each_other(folder, run):
    done = run(folder, "check", "program.py", "--trace", "lines", "--diff")
    assert done.returncode == 2
    assert done.stderr.startswith("syncscan: --trace compares what is found")
