"""The formats for other programs, each read by what reads it, and escaped for that."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from syncscan.model import (
    Applicability,
    Confidence,
    Edit,
    Evidence,
    Failure,
    Finding,
    Fix,
    Severity,
    Suppressed,
    When,
)
from syncscan.report import github
from syncscan.report.formats import FORMATS, render
from syncscan.report.records import Report
from syncscan.rule import rule_book

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text())

HEAD = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\n\n\n'
READ = "def report():\n    print(losses.sum().item())\n"
HOT = """\


class Model(torch.nn.Module):
    def forward(self, x):
        return losses.max().item()
"""


def finding(line: int = 6, **more) -> Finding:
    settings = {
        "code": "SYN101",
        "name": "item-read",
        "path": "pkg/a.py",
        "line": line,
        "column": 5,
        "end_line": line,
        "end_column": 19,
        "function": "report",
        "expression": "losses.sum().item()",
        "message": "`.item()` waits",
        "confidence": Confidence.INFERRED,
        "fix": Fix(Applicability.NONE, "keep it"),
    }
    return Finding(**settings | more)


def rendered(name: str, report: Report) -> str:
    stream = io.StringIO()
    render(name, report, stream)
    return stream.getvalue()


def sarif(report: Report) -> dict:
    data = json.loads(rendered("sarif", report))
    jsonschema.validate(data, SCHEMA)
    (run,) = data["runs"]
    return run


# what is hostile to one reader or another
ODD = "a]]>&<b>\"'\x00\x1b[0m\n::error::x\u2028\ud800\ufffe]%2C|`"
ODD_REPORT = Report(
    findings=(
        finding(
            path=f"pkg/{ODD}.py",
            function=ODD,
            expression=ODD,
            message=ODD,
            evidence=(Evidence(ODD, 0, ODD),),
            fix=Fix(Applicability.UNSAFE, ODD, (Edit(1, 1, 1, 2, ODD),)),
        ),
    ),
    failures=(Failure(ODD, 0, ODD),),
    newer=(Failure(ODD, 3, ODD, python="3.15"),),
    unfixed=(Failure(ODD, 3, ODD),),
    suppressed=(Suppressed(finding(9), ODD),),
    known=(finding(12),),
)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_odd_text_commands_nothing_and_breaks_no_format(name):
    text = rendered(name, ODD_REPORT)
    assert not re.search("[\x00\x1b\u2028\ud800]", text if name != "json" else "")
    if name in {"json", "sarif", "gitlab"}:
        json.loads(text)
    if name == "junit":
        ET.fromstring(text)
    allowed = {"error", "warning", "notice"} if name == "github" else set()
    assert set(re.findall(r"^::(\w*)", text, re.MULTILINE)) <= allowed


def test_odd_text_is_valid_sarif():
    run = sarif(ODD_REPORT)
    assert len(run["results"]) == 3


def test_sarif_has_the_rules_with_help(syncscan, project, monkeypatch):
    monkeypatch.setattr("syncscan.report.address.REPOSITORY", "https://example.org/syncscan")
    project({"a.py": HEAD + READ})
    done = syncscan("check", "--output-format", "sarif")
    assert (done.stderr, done.status) == ("", 1)
    data = json.loads(done.stdout)
    jsonschema.validate(data, SCHEMA)
    driver = data["runs"][0]["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == list(rule_book())
    for rule in driver["rules"]:
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}")
        assert rule["helpUri"].endswith(f"/{rule['id']}.md")


def test_sarif_has_no_links_where_the_repository_has_no_address(syncscan, project, monkeypatch):
    monkeypatch.setattr("syncscan.report.address.REPOSITORY", "")
    project({"a.py": HEAD + READ})
    data = json.loads(syncscan("check", "--output-format", "sarif").stdout)
    jsonschema.validate(data, SCHEMA)
    assert "helpUri" not in data["runs"][0]["tool"]["driver"]["rules"][0]


def test_a_result_of_sarif(syncscan, project):
    project({"pkg/a b.py": HEAD + READ})
    (result,) = json.loads(syncscan("check", "--output-format", "sarif").stdout)["runs"][0]["results"]
    assert result["ruleId"] == "SYN101"
    assert result["level"] == "warning"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "pkg/a%20b.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 7, "startColumn": 11, "endLine": 7, "endColumn": 30}
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert "suppressions" not in result


def test_fixes_in_sarif_are_those_of_the_check(syncscan, project):
    project({"a.py": "import torch\n\nx = torch.tensor([1, 2], device='cuda')\n"})
    data = json.loads(syncscan("check", "--output-format", "json").stdout)["findings"][0]
    (result,) = json.loads(syncscan("check", "--output-format", "sarif").stdout)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"]["text"] == data["fix"]["edits"][0]["text"]
    assert replacement["deletedRegion"]["startLine"] == data["fix"]["edits"][0]["line"]


def test_suppressions_in_sarif(syncscan, project):
    source = HEAD + "print(losses.sum().item())\n"
    root = project({"a.py": source})
    syncscan("check", "--write-baseline", "base.json")
    (root / "a.py").write_text(
        source + "losses.tolist()  # syncscan: ignore[SYN102] shown once\nlosses.any().item()\n"
    )
    run = json.loads(syncscan("check", "--baseline", "base.json", "--output-format", "sarif").stdout)["runs"][
        0
    ]
    assert [(r["ruleId"], r.get("suppressions")) for r in run["results"]] == [
        ("SYN101", [{"kind": "external", "justification": "in the baseline"}]),
        ("SYN102", [{"kind": "inSource", "justification": "shown once"}]),
        ("SYN101", None),
    ]


@pytest.mark.parametrize("name", ["sarif", "gitlab"])
def test_fingerprints_stay_where_lines_move_and_differ_where_findings_do(syncscan, project, name):
    def marks() -> list[str]:
        text = syncscan("check", "--output-format", name).stdout
        if name == "gitlab":
            return [issue["fingerprint"] for issue in json.loads(text)]
        return [r["partialFingerprints"]["syncscan/v1"] for r in json.loads(text)["runs"][0]["results"]]

    root = project({"a.py": HEAD + READ + "    print(losses.sum().item())\n"})
    before = marks()
    assert len(set(before)) == 2
    (root / "a.py").write_text(
        "# more\n\n" + HEAD + READ.replace("sum()", "sum( )") + "    print(losses.sum().item())\n"
    )
    assert marks() == before


def test_gitlab(syncscan, project):
    project({"a.py": HEAD + READ + HOT, "bad.py": "def\n"})
    done = syncscan("check", "--output-format", "gitlab")
    issues = json.loads(done.stdout)
    assert [(i["check_name"], i["severity"], i["location"]) for i in issues] == [
        ("SYN101", "minor", {"path": "a.py", "lines": {"begin": 7}}),
        ("SYN101", "major", {"path": "a.py", "lines": {"begin": 12}}),
        ("syncscan-failure", "critical", {"path": "bad.py", "lines": {"begin": 1}}),
    ]
    assert done.status == 2


def test_junit(syncscan, project):
    project({"a.py": HEAD + READ + HOT})
    done = syncscan("check", "--output-format", "junit", "--fail-on", "error")
    (suite,) = ET.fromstring(done.stdout)
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "error"
    assert "losses.max().item()" in failure.text


def test_junit_without_findings_has_a_test_that_passed(syncscan, project):
    project({"a.py": "x = 1\n"})
    (suite,) = ET.fromstring(syncscan("check", "--output-format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_output_writes_any_number_of_files(syncscan, project):
    root = project({"a.py": HEAD + READ})
    outputs = [f"--output={name}=out.{name}" for name in FORMATS]
    done = syncscan("check", *outputs)
    assert done.status == 1
    for name in set(FORMATS) - {"text", "json"}:
        printed = syncscan("check", "--output-format", name).stdout
        assert untimed((root / f"out.{name}").read_text()) == untimed(printed)
    assert (root / "out.text").read_text().splitlines()[0] == done.stdout.splitlines()[0]


def untimed(text: str) -> str:
    return re.sub(r"\d+\.\d+( s\b|\")", r"0.0\1", text)


BAD_OUTPUTS = {
    "no-such-format": ("xml=out", "a format is one of text, concise, json"),
    "no-file": ("sarif=", "is not FILE or FORMAT=FILE"),
    "no-folder": ("sarif=no/such/out", "no such file"),
}


@pytest.mark.parametrize(("value", "message"), BAD_OUTPUTS.values(), ids=BAD_OUTPUTS)
def test_a_bad_output_gets_one_line(syncscan, project, value, message):
    project({"a.py": HEAD + READ})
    done = syncscan("check", "--output-file", value)
    assert message in done.stderr
    assert done.status == 2


def test_paths_are_relative_to_the_top_of_the_repository(syncscan, project, tmp_path):
    project({"a.py": HEAD + READ})
    (tmp_path.parent / ".git").mkdir(exist_ok=True)
    top = tmp_path.name
    try:
        assert f"file={top}/a.py" in syncscan("check", "--output-format", "github").stdout
        (issue,) = json.loads(syncscan("check", "--output-format", "gitlab").stdout)
        assert issue["location"]["path"] == f"{top}/a.py"
        run = json.loads(syncscan("check", "--output-format", "sarif").stdout)["runs"][0]
        place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert unquote(place["uri"]) == f"{top}/a.py"
    finally:
        (tmp_path.parent / ".git").rmdir()


def test_github_shows_ten_of_a_level_and_prints_the_rest():
    many = tuple(finding(line, when=When.STEP) for line in range(1, 26))
    out = rendered("github", Report((*many, finding(30), finding(40, confidence=Confidence.ASSUMED))))
    kinds = [re.match(r"::(\w+)|", line)[1] for line in out.splitlines()]
    assert kinds == ["error"] * 10 + ["warning", "notice"] + [None] * 15
    assert out.splitlines()[12] == "pkg/a.py:11:5: SYN101 `.item()` waits"


def test_the_summary_of_a_job_has_all(syncscan, project, monkeypatch):
    root = project({"a.py": HEAD + READ + "    print(losses.sum().item())\n" * 14, "pyproject.toml": ""})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(root / "summary.md"))
    (root / "summary.md").write_text("before\n")
    syncscan("check", "--output-format", "github", ".")
    text = (root / "summary.md").read_text()
    assert text.startswith("before\n### syncscan: 15 findings in 1 file")
    assert text.count("\n| warning | a.py:") == 15


def test_a_summary_is_no_longer_than_github_takes():
    report = Report(tuple(finding(line, message="m" * 1000) for line in range(1, 2000)))
    stream = io.StringIO()
    github.render_summary(report, stream)
    assert len(stream.getvalue().encode()) < 1024 * 1024
    assert re.search(r"\n\d+ more are in the log of the step\.\n$", stream.getvalue())


SEVERITIES = {
    "hot-proved": ({"when": When.STEP, "confidence": Confidence.PROVED}, Severity.ERROR),
    "hot-inferred": ({"when": When.STEP}, Severity.ERROR),
    "hot-assumed": ({"when": When.STEP, "confidence": Confidence.ASSUMED}, Severity.WARNING),
    "once": ({"when": When.ONCE, "confidence": Confidence.PROVED}, Severity.NOTE),
    "in-a-test": ({"when": When.TEST, "confidence": Confidence.PROVED}, Severity.NOTE),
    "nobody-knows": ({}, Severity.WARNING),
    "nobody-knows-assumed": ({"confidence": Confidence.ASSUMED}, Severity.NOTE),
    "a-comment": ({"code": "SYN001", "confidence": Confidence.PROVED}, Severity.WARNING),
}


@pytest.mark.parametrize(("settings", "expected"), SEVERITIES.values(), ids=SEVERITIES)
def test_severity(settings, expected):
    assert finding(**settings).severity is expected


@pytest.mark.parametrize(("level", "status"), [("note", 1), ("warning", 1), ("error", 0)])
def test_fail_on_decides_the_exit_status(syncscan, project, level, status):
    project({"a.py": HEAD + READ})
    done = syncscan("check", "--fail-on", level)
    assert done.status == status
    assert "1 finding in 1 file" in done.stdout


def test_an_error_fails_at_every_level(syncscan, project):
    project({"a.py": HEAD + HOT})
    assert syncscan("check", "--fail-on", "error").status == 1
