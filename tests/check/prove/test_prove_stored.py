"""A proof that begins with a stored state equals a proof from nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.prove.certificate import Proofs
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.ran import RunSeen
from syncscan.check.prove.stored import certificate_of, data_of
from syncscan.model import Conventions
from tests.check.changing import changed, project, source
from tests.check.prove.proving import ENTRIES, certificates, proved_in_turn
from tests.conftest import Command

Write = Callable[[dict[str, str | bytes]], Path]


def test_an_unchanged_project_is_proved_from_its_state_as_from_nothing() -> None:
    cold, engine = certificates(project())
    stages: list[str] = []
    warm, _ = certificates(project(), engine.state(), stages)
    assert "read" not in stages
    assert len(cold) == len(ENTRIES)
    assert warm == cold


PASSING = """
import torch

def step(n: int) -> None:
    if n:
        pass

def other() -> None:
    step(torch.ones(3, device="cuda"))
"""


def test_what_callers_pass_against_an_annotation_is_known_from_a_state() -> None:
    sources = {"nets": source("nets", PASSING)}
    found = []
    for state in (None, certificates(sources)[1].state()):
        engine = Engine(Conventions(), state=state)
        result = engine.check([*sources.values()], None, lambda *_: None)
        assert engine.solver is not None
        found.append(Proofs(engine.solver, result.findings, sources.values()).certify("nets:step"))
    assert found[0].obstacles
    assert found[1] == found[0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_a_proof_after_edits_is_that_of_a_new_engine(seed: int) -> None:
    rng = random.Random(seed)
    sources = project()
    state = certificates(sources)[1].state()
    again = 0
    for _ in range(15):
        changed(rng, sources)
        stages: list[str] = []
        warm, engine = certificates(sources, state, stages)
        cold, _ = certificates(sources)
        assert warm == cold
        again += "read" not in stages
        if "read" in stages or rng.random() < 0.5:  # or the next edit comes on top of this one
            state = engine.state()
    assert again > 3  # or this shows nothing


def test_a_certificate_is_the_same_when_it_is_read_again() -> None:
    (certificate, *_), _ = certificates(project())
    assert certificate.obstacles
    assert certificate_of(json.loads(json.dumps(data_of(certificate)))) == certificate


@pytest.mark.parametrize("data", [None, [], {"version": 1}, ["a", 1, [["b", "may", ""]], [], []]])
def test_data_of_no_certificate_is_none(data: object) -> None:
    assert certificate_of(data) is None


PROGRAM = """\
import torch


class Runner:
    log: bool = False

    def step(self, x: torch.Tensor, rows: list[int]) -> None:
        if self.log:
            print(x)
        self.count = len(rows)

    def other(self, x: torch.Tensor) -> None:
        self.count = 1
"""
ENTRY = "engine:Runner.step"
QUIET = "engine:Runner.log = False"


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], set[str]]:
    """The names of the certificates in the cache."""
    monkeypatch.setenv("SYNCSCAN_CACHE_DIR", str(tmp_path / "cache"))
    return lambda: {path.name for path in (tmp_path / "cache").glob("*.proof")}


def test_a_proof_is_computed_once(
    syncscan: Command, project: Write, entries: Callable[[], set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project({"engine.py": PROGRAM})
    first = syncscan("prove", ENTRY)
    assert (first.status, len(entries())) == (1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(Proofs, "certify", None)
        assert syncscan("prove", ENTRY) == first
        assert syncscan("prove", ENTRY, "--max-obstacles", "9").status == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"program": PROGRAM.replace("print(x)", "print(x.item())")},
        {"program": PROGRAM.replace("self.count = 1", "self.log = x")},
        {"options": ["--assume", QUIET]},
        {"entry": "engine:Runner.other"},
        {"settings": '[tool.syncscan.operations."torch.ops.own.f"]\nresult = "list"\n'},
    ],
    ids=["a body", "another function", "an assumption", "an entry point", "an operation"],
)
def test_what_determines_a_proof_makes_another(
    syncscan: Command, project: Write, entries: Callable[[], set[str]], changed: dict[str, str]
) -> None:
    project({"engine.py": PROGRAM})
    syncscan("prove", ENTRY)
    project({"engine.py": changed.get("program", PROGRAM)})
    if "settings" in changed:
        project({"pyproject.toml": changed["settings"]})
    asked = [changed.get("entry", ENTRY), *changed.get("options", [])]
    warm = syncscan("prove", *asked)
    assert len(entries()) == 2
    assert warm == syncscan("prove", "--no-cache", *asked)


def test_without_the_cache_nothing_is_stored(
    syncscan: Command, project: Write, entries: Callable[[], set[str]]
) -> None:
    project({"engine.py": PROGRAM})
    assert syncscan("prove", "--no-cache", ENTRY).status == 1
    assert entries() == set()


def test_a_damaged_certificate_is_proved_again(
    syncscan: Command, project: Write, entries: Callable[[], set[str]], tmp_path: Path
) -> None:
    project({"engine.py": PROGRAM})
    first = syncscan("prove", ENTRY)
    (name,) = entries()
    (tmp_path / "cache" / name).write_bytes(os.urandom(50))
    assert syncscan("prove", ENTRY) == first


def test_walks_of_deeply_nested_functions_are_kept(
    syncscan: Command, project: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SYNCSCAN_CACHE_DIR", str(tmp_path / "cache"))
    text = f"def run(x):\n    y = {'not ' * 990}x\n    return x\n"
    for edited in (text, text.replace("y", "z")):
        project({"nested.py": edited})
        warm = syncscan("prove", "nested:run")
        assert warm.stderr == ""
        assert warm == syncscan("prove", "--no-cache", "nested:run")
    assert [*(tmp_path / "cache").glob("*.walks")]


def test_a_file_that_cannot_be_analysed_may_hold_anything(syncscan: Command, project: Write) -> None:
    text = (
        "from base import Base\n\n\nclass Runner(Base):\n    def step(self) -> None:\n        return None\n"
    )
    project({"engine.py": text, "base.py": "class Base:\n    pass\n"})
    assert syncscan("prove", ENTRY).status == 0
    project({"base.py": "class Base:\n    def (:\n"})
    for _ in range(2):  # computed, and read from the cache
        done = syncscan("prove", ENTRY)
        assert (done.status, done.stdout.startswith("not proved")) == (2, True)
        assert "1 file could not be analysed" in done.stdout
        assert "base.py:2: syntax error" in done.stderr
    assert [
        each["path"]
        for each in json.loads(syncscan("prove", ENTRY, "--output-format", "json").stdout)["failed"]
    ] == ["base.py"]


FILES = {
    "engine": """\
from parts import LOGS, WIDTHS, measured, prepared, same


class Runner:
    log: bool = False

    def __init__(self, device) -> None:
        self.width = 4
        self.apply = lambda t: t * 2

    def step(self, x, rows: list[int]) -> None:
        if self.log:
            print(x)
        if LOGS:
            print(x.sum().item(), WIDTHS.pop())
        print(same(x, 3))
        if self.width > prepared(rows):
            self.again(measured(x))

    def again(self, n: WIDTHS) -> None:
        n.reshape(3)
        if n > 3:
            self.step(self.apply(n), [1])
""",
    "parts": """\
import torch

WIDTHS = [1, 2]
LOGS = False


def measured(x: torch.Tensor):
    return shape(x)


def shape(x: torch.Tensor):
    return x.shape[0]


def prepared(rows, count: int = 0):
    return count


def same(x, n):
    return x


def reset(runner) -> None:
    runner.name = ""
""",
    "loops": """\
def endless(x):
    return endless(x)


def turned(runner):
    runner.total = int(runner.total)
    return runner.total


def flag(n):
    return True if n else bound(n)


def bound(n):
    return 1 if flag(n) is None else None
""",
    "caller": """\
from engine import Runner
from loops import bound, endless, turned
from parts import prepared


def run(runner: Runner, x):
    prepared([3])
    runner.step(x, [2])
    print(int(endless(x)), turned(runner), 1 if bound(x) else x.item())
""",
}
# Each edits one file on top of the edits before it, and the last version has none of them.
EDITS = {
    "a body that stays as it is for others": (
        "parts",
        "    return shape(x)",
        "    n = shape(x)\n    return n",
    ),
    "a comment and a text": ("parts", "import torch\n", '"""Text."""\n\nimport torch\n\n# more\n'),
    "a flag": ("parts", "LOGS = False", "LOGS = True"),
    "data of another type": ("parts", "WIDTHS = [1, 2]", "WIDTHS = {1, 2}"),
    "a name of a type": ("parts", "WIDTHS = {1, 2}", "WIDTHS = torch.Tensor"),
    "another variable": ("parts", "LOGS = True", "LOGS = True\nprepared = [1]"),
    "no other variable": ("parts", "LOGS = True\nprepared = [1]", "LOGS = True"),
    "two statements on a line": ("parts", "LOGS = True", "LOGS = True; prepared = torch.nothing"),
    "one statement on a line": ("parts", "LOGS = True; prepared = torch.nothing", "LOGS = True"),
    "another result": ("parts", "return x.shape[0]", "return x.sum()"),
    "another writer of an attribute": ("parts", 'runner.name = ""', "runner.width = runner.log"),
    "another use of an attribute": ("parts", "return count", "return len(count.apply)"),
    "another parameter that is returned": (
        "parts",
        "    return x\n\n\ndef reset",
        "    return n\n\n\ndef reset",
    ),
    "an annotation": ("parts", "count: int = 0", "count: torch.Tensor = None"),
    "what a call passes": ("caller", "[2]", "x"),
    "a wait behind a call": ("parts", "return x.sum()", "return x.sum().item()"),
    "a result of a function that returned its own": (
        "loops",
        "    return endless(x)",
        "    return endless(x) if x is None else 3",
    ),
    "a first value of an attribute": ("engine", "self.width = 4", "self.width = 4\n        self.total = 0"),
    "a flag that is no constant": ("loops", "return True if n", "return n if n"),
    "a new method": (
        "engine",
        "    def again(self",
        "    def more(self):\n        self.log = 1\n\n    def again(self",
    ),
    "a property": ("engine", "    def again(self, n: WIDTHS)", "    @property\n    def again(self, n=0)"),
}


LINES_THAT_RAN = RunSeen(
    {
        name: set(range(1, 40)) - ({20} if name == "engine.py" else set())
        for name in ("engine.py", "parts.py", "loops.py", "caller.py")
    },
    {},
)


def versions() -> list[dict[str, Source]]:
    """The project, with each edit on top of those before, and as it was."""
    texts = [FILES]
    for name, before, after in EDITS.values():
        assert before in texts[-1][name]
        texts.append({**texts[-1], name: texts[-1][name].replace(before, after)})
    return [{name: source(name, text) for name, text in files.items()} for files in [*texts, FILES]]


@pytest.mark.parametrize("assumptions", [(), (QUIET,)], ids=["bare", "assumed"])
@pytest.mark.parametrize("run", [None, LINES_THAT_RAN], ids=["all lines", "lines that ran"])
@pytest.mark.parametrize("is_first", [True, False], ids=["since the first proof", "since the last proof"])
def test_walks_of_an_earlier_proof_change_no_answer(
    assumptions: tuple[str, ...], is_first: bool, run: RunSeen | None
) -> None:
    kept: list[bytes | None] = [None, None]
    answers = []
    for sources in versions():
        engine = Engine(Conventions())
        findings = engine.check([*sources.values()], None, lambda *_: None).findings
        assert engine.solver is not None
        cold = Proofs(engine.solver, findings, sources.values(), assumptions, run).certify("caller:run")
        proofs = Proofs(engine.solver, findings, sources.values(), assumptions, run, kept=kept)
        assert proofs.certify("caller:run") == cold
        if not is_first or kept[0] is None:
            kept = [proofs.walks() or kept[0], proofs.plain_walks() or kept[1]]
        answers.append(cold)
    assert len({str(data_of(answer)) for answer in answers}) > 4


HELPERS = """
import nets

LIMIT = 3

def run(x):
    return nets.step(1)
"""


@pytest.mark.parametrize(
    "edited",
    [
        HELPERS.replace("    return", "    y = x\n    return"),
        HELPERS.replace("def run", "# a comment\n\ndef run"),
        '"""A text."""\n' + HELPERS,
        HELPERS.replace("LIMIT = 3", "LIMIT = [\n    3,\n]  # a comment"),
    ],
    ids=["a body", "a comment", "a text", "data"],
)
def test_an_unchanged_function_is_not_walked_again(edited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {"nets": source("nets", PASSING), "helpers": source("helpers", HELPERS)}
    last = {**first, "helpers": source("helpers", edited)}
    walked: list[str] = []
    plain = Prover._run
    monkeypatch.setattr(
        Prover,
        "_run",
        lambda self, frame, *rest: (walked.append(frame.function.qualname), plain(self, frame, *rest))[1],
    )
    found = []
    for _ in proved_in_turn("helpers:run", first, last):
        found.append([*walked])
        walked.clear()
    assert set(found[0]) >= {"run", "step"}
    assert set(found[1]) == {"run"}


CALLED = """
class Count:
    def total(self, x, more: int = 3) -> int:
        return 1

    def rows(self):
        yield 1

    def plain(self, x):
        return x
"""
CALLING = """
from called import Count

def run(x, count: Count):
    for row in count.rows():
        print(row + count.plain(2) if count.total(x, 1) else 2)
"""


def test_after_the_edit_of_a_body_the_files_of_what_it_calls_are_not_parsed() -> None:
    first = {"called": source("called", CALLED), "calling": source("calling", CALLING)}
    edited = {**first, "calling": source("calling", CALLING.replace("    for", "    print(1)\n    for"))}
    state, kept, unread = None, [None, None], list[bool]()
    for sources in (first, edited):
        engine = Engine(Conventions(), state=state)
        findings = engine.check([*sources.values()], None, lambda *_: None).findings
        assert engine.solver is not None
        proofs = Proofs(engine.solver, findings, sources.values(), kept=kept)
        found = proofs.certify("calling:run")
        (module,) = [each for each in engine.solver.context.modules if each.name == "called"]
        unread.append(module.unread is not None)
        cold = Proofs(engine.solver, findings, sources.values()).certify("calling:run")
        assert found == cold
        state, kept = engine.state(), [proofs.walks(), None]
    assert unread == [False, True]


SETTING = """
import torch

class Config:
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
"""
SETS = """
from setting import Config

def run(box: Config):
    box.size = 3
"""


def test_an_edit_of_a_setter_reaches_the_functions_that_set_an_attribute() -> None:
    waiting = SETTING.replace("        super()", "        torch.cuda.synchronize()\n        super()")
    first = {"sets": source("sets", SETS), "setting": source("setting", SETTING)}
    last = {**first, "setting": source("setting", waiting)}
    found = [each.is_proved for each in proved_in_turn("sets:run", first, last)]
    assert found == [True, False]
