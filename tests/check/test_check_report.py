"""Each format, compared with what it must look like."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from syncscan import __version__
from syncscan.model import Applicability, Confidence, Edit, Evidence, Failure, Finding, Fix, When
from syncscan.report import github, json_report, progress, statistics, text
from syncscan.report.records import Report
from syncscan.rule import rule_book

SOURCE = """\
import torch


class Runner:
    def step(self):
        n = self.lens.max().item()
\twide = f(self.lens\t.max().item())  # tabs
        名前 = self.lens.item()
        return int(
            self.lens
            .max()
        )
"""

MANY = tuple(Evidence("pkg/a.py", line, f"step {line}") for line in (1, 1, 2, 3, 4, 5, 6))


def finding(line: int, column: int, end_line: int, end_column: int, **more) -> Finding:
    settings = {
        "code": "SYN101",
        "name": "item-read",
        "path": "pkg/runner.py",
        "function": "Runner.step",
        "expression": "self.lens.max().item()",
        "message": "`.item()` copies a number from the GPU and waits for it",
        "confidence": Confidence.INFERRED,
        "evidence": (Evidence("pkg/a.py", 12, "`self.lens` is on the GPU: `device=self.device`"),),
        "fix": Fix(Applicability.NONE, "take it from the host mirror"),
    }
    return Finding(line=line, column=column, end_line=end_line, end_column=end_column, **settings | more)


PLAIN = finding(6, 13, 6, 35)
FIXABLE = finding(
    7, 11, 7, 34, code="SYN001", name="unused-suppression", confidence=Confidence.PROVED, evidence=(),
    message="wrong", fix=Fix(Applicability.UNSAFE, "read it later", (Edit(7, 11, 7, 34, "later"),)),
)  # fmt: skip
WIDE = finding(
    8,
    14,
    8,
    30,
    evidence=MANY,
    function="Runner.widest",
    when=When.STEP,
    call_chain=("Engine.run", "Runner.step"),
    fix=Fix(Applicability.NONE, ""),
)
LONG = finding(9, 16, 12, 10, evidence=(), function="Runner.longest")
REPORT = Report(
    findings=(PLAIN, FIXABLE, WIDE, LONG),
    failures=(Failure("pkg/bad.py", 3, "invalid syntax"), Failure("a,b:c.py", 0, "100% gone\nreally")),
    checked=7,
    skipped=2,
    seconds=1.26,
    texts={"pkg/runner.py": SOURCE},
)

EXPECTED_TEXT = """\
pkg/runner.py:8:14: SYN101 `.item()` copies a number from the GPU and waits for it [item-read, inferred, error]
8 |         名前 = self.lens.item()
  |                ^^^^^^^^^^^^^^^^
  = because: step 1 (pkg/a.py:1)
  = because: step 2 (pkg/a.py:2)
  = because: step 3 (pkg/a.py:3)
  = because: step 4 (pkg/a.py:4)
  = because: ... 2 more steps, see --output-format json
  = reached from an entry point: Engine.run -> Runner.step
  = in general: {instead}

pkg/runner.py:6:13: SYN101 `.item()` copies a number from the GPU and waits for it [item-read, inferred, warning]
6 |         n = self.lens.max().item()
  |             ^^^^^^^^^^^^^^^^^^^^^^
  = because: `self.lens` is on the GPU: `device=self.device` (pkg/a.py:12)
  = suggestion: take it from the host mirror

pkg/runner.py:9:16: SYN101 `.item()` copies a number from the GPU and waits for it [item-read, inferred, warning]
 9 |         return int(
   |                ^^^^
10 |             self.lens
   |             ^^^^^^^^^
11 |             .max()
   |             ^^^^^^
12 |         )
   |         ^
   = suggestion: take it from the host mirror

pkg/runner.py:7:11: SYN001 wrong [unused-suppression, proved, warning]
7 |     wide = f(self.lens    .max().item())  # tabs
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = fix (unsafe): read it later

sync-free components to paste: see `syncscan rule SYN101`
4 findings in 1 file; 7 files checked in 1.3 s, 2 excluded, 2 not analysed; can be fixed: 1 with --unsafe-fixes
"""

EXPECTED_GITHUB = """\
::error title=syncscan%3A not analysed,file=pkg/bad.py,line=3::invalid syntax
::error title=syncscan%3A not analysed,file=a%2Cb%3Ac.py::100%25 gone%0Areally
::error title=syncscan%3A not fixed,file=c.py::not fixed: it is read-only
::warning title=SYN101 item-read,file=pkg/runner.py,line=6,endLine=6,col=13,endColumn=35::`.item()` copies a \
number from the GPU and waits for it%0A`self.lens` is on the GPU: `device=self.device` (pkg/a.py:12)%0A\
Suggestion: take it from the host mirror
::warning title=SYN101 item-read,file=pkg/runner.py,line=9,endLine=12,col=16::`.item()` copies a number from \
the GPU and waits for it%0ASuggestion: take it from the host mirror
"""


def rendered(report: Report, **console: object) -> str:
    stream = io.StringIO()
    text.show(report, Console(file=stream, **console))
    return stream.getvalue()


def test_text(rule_instead):
    assert rendered(REPORT) == EXPECTED_TEXT.replace("{instead}", rule_instead)


@pytest.fixture
def rule_instead() -> str:
    return rule_book()["SYN101"].instead


def test_text_does_not_depend_on_the_width(rule_instead):
    assert rendered(REPORT, width=20) == rendered(REPORT, width=200)


def test_text_has_colours_on_a_terminal_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in rendered(REPORT, force_terminal=True)
    assert "\x1b[" not in rendered(REPORT)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in rendered(REPORT, force_terminal=True)


def test_one_line_that_functions_of_one_name_repeat_is_one_entry():
    one = finding(6, 13, 6, 35, evidence=())
    twin = finding(6, 13, 6, 35, evidence=(), path="pkg/v2.py", function="RunnerV2.step")
    other_name = finding(6, 13, 6, 35, evidence=(), path="pkg/v3.py", function="Runner.prefill")
    other_line = finding(8, 14, 8, 30, evidence=(), path="pkg/v4.py", function="RunnerV4.step")
    texts = {f"pkg/{name}.py": SOURCE for name in ("runner", "v2", "v3", "v4")}
    out = rendered(Report((one, twin, other_name, other_line), texts=texts))
    heads = [line.split(": ")[0] for line in out.splitlines() if ": SYN101 " in line]
    assert heads == ["pkg/runner.py:6:13", "pkg/v3.py:6:13", "pkg/v4.py:8:14"]
    assert "  = the same at: pkg/v2.py:6:13\n" in out


def test_findings_of_other_rules_with_the_same_evidence_join_where_they_share_a_variable():
    first = finding(6, 13, 6, 35)
    shared = finding(8, 14, 8, 30, code="SYN104", expression="int(self.lens.max()) > n")
    other = finding(10, 13, 10, 22, code="SYN104", expression="torch.any(mask)")
    out = rendered(Report((first, shared, other), texts={"pkg/runner.py": SOURCE}))
    heads = [line.split(": ")[0] for line in out.splitlines() if line.startswith("pkg/runner.py:")]
    assert heads == ["pkg/runner.py:6:13", "pkg/runner.py:10:13"]
    assert "  = the same cause at: 8:14 SYN104\n" in out


def test_markup_in_a_source_is_text():
    report = Report((finding(1, 1, 1, 7, evidence=()),), texts={"pkg/runner.py": "[bold]x[/bold] :smile:\n"})
    assert "1 | [bold]x[/bold] :smile:\n" in rendered(report)


def test_a_huge_source_line_is_cut():
    line = "x" * 5000 + "t.item()" + "y" * 5000
    out = rendered(Report((finding(1, 5001, 1, 5009, evidence=()),), texts={"pkg/runner.py": line}))
    shown, underlined = out.splitlines()[1:3]
    assert len(shown) < 400
    assert shown[underlined.index("^") : underlined.rindex("^") + 1] == "t.item()"


def test_an_expression_of_many_lines_is_cut():
    out = rendered(Report((finding(1, 1, 30, 2, evidence=()),), texts={"pkg/runner.py": "(\n" * 29 + ")"}))
    assert out.splitlines()[8:10] == ["   | ^", "   | ..."]


SUMMARIES = {
    "nothing": (Report((), checked=1), "no findings; 1 file checked in 0.0 s\n"),
    "all-fixed": (
        Report((), checked=3, fixed=2),
        "2 findings fixed, no findings left; 3 files checked in 0.0 s\n",
    ),
}


@pytest.mark.parametrize(("report", "expected"), SUMMARIES.values(), ids=SUMMARIES)
def test_summaries(report, expected):
    assert rendered(report) == expected


def test_some_fixed():
    summary = rendered(Report((PLAIN,), checked=3, fixed=2)).splitlines()[-1]
    assert summary == "2 findings fixed, 1 finding left in 1 file; 3 files checked in 0.0 s"


def test_json():
    stream = io.StringIO()
    newer = (Failure("d.py", 2, "not checked", python="3.14"),)
    unfixed = (Failure("c.py", 0, "not fixed: it is read-only"),)
    json_report.render(
        Report((FIXABLE,), REPORT.failures, 7, 2, seconds=1.2604, newer=newer, unfixed=unfixed), stream
    )
    assert json.loads(stream.getvalue()) == {
        "version": 1,
        "tool": {"name": "syncscan", "version": __version__},
        "findings": [
            {
                "code": "SYN001",
                "name": "unused-suppression",
                "path": "pkg/runner.py",
                "line": 7,
                "column": 11,
                "end_line": 7,
                "end_column": 34,
                "function": "Runner.step",
                "expression": "self.lens.max().item()",
                "message": "wrong",
                "confidence": "proved",
                "severity": "warning",
                "hot": False,
                "when": "unknown",
                "call_chain": [],
                "evidence": [],
                "fix": {
                    "applicability": "unsafe",
                    "description": "read it later",
                    "edits": [{"line": 7, "column": 11, "end_line": 7, "end_column": 34, "text": "later"}],
                },
            }
        ],
        "files": {
            "checked": 7,
            "skipped": 3,
            "failed": [
                {"path": "pkg/bad.py", "line": 3, "message": "invalid syntax", "partial": False},
                {"path": "a,b:c.py", "line": 0, "message": "100% gone\nreally", "partial": False},
            ],
            "newer": [{"path": "d.py", "line": 2, "message": "not checked", "python": "3.14"}],
            "unfixed": [{"path": "c.py", "line": 0, "message": "not fixed: it is read-only"}],
        },
        "baseline": {"known": 0, "gone": 0},
        "left_out": {"unknown": 0, "once": 0, "test": 0},
        "facts": {"fitting": 0, "stale": 0, "refuted": 0},
        "timing": {"seconds": 1.26},
    }


def test_json_gives_the_evidence_whole():
    data = json_report.as_data(Report((WIDE,)))["findings"][0]
    assert data["evidence"] == [
        {"path": "pkg/a.py", "line": n, "text": f"step {n}"} for n in (1, 1, 2, 3, 4, 5, 6)
    ]
    assert (data["hot"], data["call_chain"]) == (True, ["Engine.run", "Runner.step"])


def test_github():
    stream = io.StringIO()
    unfixed = (Failure("c.py", 0, "not fixed: it is read-only"),)
    github.render(Report((PLAIN, LONG), REPORT.failures, unfixed=unfixed), stream)
    assert stream.getvalue() == EXPECTED_GITHUB


def test_statistics():
    stream = io.StringIO()
    statistics.render(Report((FIXABLE, *[PLAIN] * 10)), stream)
    assert stream.getvalue() == (
        "10  SYN101  item-read\n 1  SYN001  unused-suppression (1 with a fix)\n"
        "11 findings in 1 file; 0 files checked in 0.0 s; can be fixed: 1 with --unsafe-fixes\n"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "patience", "shows"),
    [(Terminal(), 0.0, True), (Terminal(), 60.0, False), (io.StringIO(), 0.0, False)],
    ids=["long-on-a-terminal", "short-on-a-terminal", "long-in-a-pipe"],
)
def test_a_progress_bar_on_a_terminal_for_long_runs(monkeypatch, stream, patience, shows):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    with progress.ProgressBar(stream) as bar:
        bar("read", 0, 10)
        bar("read", 5, 10)
    assert ("read" in stream.getvalue()) is shows
    assert bool(stream.getvalue()) is shows


def test_a_copy_that_its_author_wrote_as_one_comes_after_a_hidden_synchronization(syncscan, project):
    source = """\
import torch


def fit(loader, model):
    for batch in loader:
        loss = batch.cuda().sum()
        loss.backward()
        kept = loss.cpu()
        loss.backward()
        rows = loss.tolist()
        loss.backward()
        assert loss > 0
        loss.backward()
        model(kept, rows, loss[loss > 0])
"""
    project({"a.py": source})
    lines = syncscan("check", "--isolated", "--output-format", "concise").stdout.splitlines()
    codes = [line.split(" ")[1] for line in lines[:5]]
    assert codes == ["SYN104", "SYN201", "SYN302", "SYN105", "SYN102"]


def test_code_in_folders_of_deprecated_code_comes_after_live_code(syncscan, project):
    source = """\
import torch


class Net(torch.nn.Module):
    def forward(self):
        return torch.ones(1, device="cuda").item()
"""
    paths = (
        "models/deprecated/a.py",
        "legacy/a.py",
        "models/deprecated_names.py",
        "models/legacy.py",
        "z.py",
    )
    project(dict.fromkeys(paths, source))
    lines = syncscan("check", "--isolated", "--output-format", "concise").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:5]] == [
        "models/deprecated_names.py",
        "models/legacy.py",
        "z.py",
        "legacy/a.py",
        "models/deprecated/a.py",
    ]


def test_code_for_rocm_alone_comes_after_that_for_cuda(syncscan, project):
    source = """\
import torch


class {}(torch.nn.Module):
    def forward(self):
        return torch.ones(1, device="cuda").item()
"""
    names = {
        "aiter_loss.py": "Net",
        "a.py": "NetROCm",
        "hip/loss.py": "Net",
        "ship.py": "Net",
        "z.py": "Chip",
    }
    project({path: source.format(name) for path, name in names.items()})
    lines = syncscan("check", "--isolated", "--output-format", "concise").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:5]] == [
        "ship.py", "z.py", "a.py", "aiter_loss.py", "hip/loss.py"
    ]  # fmt: skip


def test_what_each_call_runs_comes_before_what_runs_behind_a_condition(syncscan, project):
    source = """\
import torch


def forward(x: torch.Tensor, mask):
    if mask is not None:
        x[0].item()
    elif x.ndim == 2:
        x[1].item()
    for row in x:
        x[2].item()
        if len(row) > 3:

            def inner():
                return x[3].item()

            inner()
    match x.ndim:
        case 3:
            x[4].item()
    if len(x) > 4:
        return (lambda: x[7].item())()
    return x[5].item()


class Net(torch.nn.Module):
    def forward(self):
        return forward(torch.ones(6, device="cuda"), None)
"""
    project({"a.py": source})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert {each["expression"] for each in found if "conditional" in each} == {
        "x[0].item()", "x[1].item()", "x[4].item()"
    }  # fmt: skip
    lines = syncscan("check", "--isolated", "--output-format", "concise").stdout.splitlines()
    assert [int(line.split(":")[1]) for line in lines[:7]] == [10, 22, 14, 21, 6, 8, 19]


def test_a_line_that_the_project_switches_off_names_the_switch(syncscan, project):
    source = """\
import torch


class Loss(torch.nn.Module):
    def __init__(self, balance=False):
        super().__init__()
        self.balance = balance

    def forward(self, x: torch.Tensor):
        if self.balance:
            x.sum().item()
        return x


Loss()(torch.ones(1, device="cuda"))
"""
    project({"a.py": source})
    text = syncscan("check", "--isolated").stdout
    assert "= switched off by: `self.balance`, as far as the project shows\n" in text
    assert "reached from an entry point" not in text
    (found,) = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert (found["switch"], found["when"], found["call_chain"]) == ("self.balance", "unknown", [])
    project({"b.py": "from a import Loss\n\nLoss(balance=True)\n"})
    (found,) = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert ("switch" in found, found["when"]) == (False, "step")


def test_a_line_behind_an_option_that_is_off_by_default_names_the_option(syncscan, project):
    settings = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    checks: bool = False\n"
    )
    source = """\
import torch


class Runner:
    def execute_model(self, x):
        if self.settings.checks:
            self.check(x.cuda())

    def check(self, x):
        x.tolist()
"""
    project({"settings.py": settings, "a.py": source})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert {(each["line"], each["switch"], each["when"]) for each in found} == {(10, "checks", "unknown")}
    assert "reached from an entry point" not in syncscan("check", "--isolated").stdout
    project({"settings.py": settings.replace("False", "True")})
    found = json.loads(syncscan("check", "--isolated", "--output-format", "json").stdout)["findings"]
    assert [("switch" in each, each["when"]) for each in found] == [(False, "step")]
