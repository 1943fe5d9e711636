"""Engines in a row, each restored from the state of the last one: the results equal those of cold runs."""

from __future__ import annotations

import ast
import random
from dataclasses import replace

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.result import CheckResult
from syncscan.model import Conventions
from tests.check.changing import changed, project, source
from tests.check.test_state import cold, followed


def asked(state: bytes | None, sources: dict[str, Source]) -> tuple[CheckResult, Engine, bool]:
    """Return the result of an engine restored from a state, the engine, and whether the run was cold."""
    stages: set[str] = set()
    engine = Engine(Conventions(), state=state)
    result = engine.check([*sources.values()], None, lambda stage, *_: stages.add(stage))
    return result, engine, "read" in stages


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_what_follows_from_a_state_is_what_a_new_engine_says(seed) -> None:
    rng = random.Random(seed)
    sources = project()
    _, state = cold(sources)
    again = 0
    for _ in range(25):
        changed(rng, sources)
        result, engine, is_new = asked(state, sources)
        expected, _ = cold(sources)
        assert result == expected
        again += not is_new
        if is_new or rng.random() < 0.5:  # or the next change comes on top of this one
            state = engine.state()
            assert state is not None
    assert again > 5  # or this shows nothing


def test_states_follow_one_another() -> None:
    sources = project()
    _, state = cold(sources)
    for number, name in enumerate(["helpers", "base", "main", "base", "nets", "helpers", "derived"] * 2):
        text = sources[name].text + f"\ndef more{number}(x):\n    return x.cuda().item()\n"
        sources[name] = replace(sources[name], text=text.replace("LIMIT = 4", f"LIMIT = {number}"))
        result, engine, is_new = asked(state, sources)
        assert not is_new
        assert result == cold(sources)[0]
        state = engine.state()


WRITES = """import torch
class Box:
    def put(self):
        self.size = 3
        self.x = torch.zeros(3, device="cuda")
    def read(self):
        return self.x.item()
"""


@pytest.mark.parametrize(
    "edits",
    {
        "an empty function has the number of the next": [
            ("z", "def other(n):\n    return n\n", ""),
            ("a", "self.size = 3", "self.size = 4"),
            ("a", "return self.x.item()", "return self.x.item() + self.size"),
        ],
        "what nobody writes or reads any more is forgotten": [
            ("a", "return self.x.item()", "return 5"),
            ("a", 'self.x = torch.zeros(3, device="cuda")', "pass"),
            ("z", "return n", "return n + 1"),
            ("a", "        pass", "        self.x = torch.zeros(3)"),
            ("a", "return 5", "return self.x.item()"),
        ],
        "a parameter in place of another": [
            ("z", "def plain(n):", "def plain(m, n):"),
            ("a", "self.size = 3", "self.size = plain(torch.zeros(3, device='cuda'), 4)"),
            ("z", "return n", "return m.item()"),
            ("z", "def plain(m, n):", "def plain(n, m):"),
        ],
        "a class of a name that is gone": [
            ("a", "class Box:", "class Case:"),
            ("z", "return n", "return Case().read()"),
            ("a", "class Case:", "class Box:"),
            ("z", "return Case().read()", "return Box().read()"),
        ],
    }.items(),
    ids=lambda item: item[0],
)
def test_edits_follow_one_another(edits) -> None:
    plain = "from a import *\ndef plain(n):\n    return n\ndef other(n):\n    return n\n"
    sources = {"a": source("a", "from z import plain\n" + WRITES), "z": source("z", plain)}
    _, state = cold(sources)
    for name, before, after in edits[1]:
        assert before in sources[name].text
        sources[name] = replace(sources[name], text=sources[name].text.replace(before, after, 1))
        result, engine, _ = asked(state, sources)
        assert result == cold(sources)[0]
        state = engine.state()


NONE = """import torch
def f(x=None):
    y = torch.zeros(3, device="cuda")
    if x is None:
        y.item()
    return y
"""
PLACED = """import torch
def f(a, {}=torch.zeros(3, device="cuda")):
    return {}.item()
"""
CASE = """class Case:
    def {}(self):
        return 1
"""
ASKS = """from a import Case
def one(case: Case):
    return Case.foo(case)
"""
ASKS_TOO = """def other(case: Case):
    return Case.foo(case)
"""


def calling(call: str) -> str:
    return f"import torch\nfrom a import f\ndef call(u):\n    return {call}\n"


@pytest.mark.parametrize(
    "versions",
    {
        "the name of a parameter comes back": [
            (PLACED.replace("{}", "x"), calling("f(1)")),
            (PLACED.replace("{}", "z"), calling("1")),
            (PLACED.replace("{}", "x"), calling("1")),
            (PLACED.replace("{}", "x"), calling("f(1, torch.zeros(3))")),
        ],
        "a default None in a file that is not parsed": [
            (NONE, calling("f(3), f")),
            (NONE, calling("f(3), map(f, u)")),
            (NONE, calling("f(3), f")),
        ],
        "who asked is gone": [
            (CASE.format("foo"), ASKS + ASKS_TOO),
            (CASE.format("foo"), ASKS),
            (CASE.format("foo2"), ASKS),
        ],
    }.items(),
    ids=lambda item: item[0],
)
def test_versions_follow_one_another(versions) -> None:
    state = None
    for number, texts in enumerate(versions[1]):
        sources = {name: source(name, text) for name, text in zip("ab", texts, strict=True)}
        result, engine, is_new = asked(state, sources)
        assert is_new is (number == 0)
        assert result == cold(sources)[0]
        state = engine.state()


def test_a_state_that_follows_another_takes_no_file_to_be_parsed(monkeypatch) -> None:
    sources = project() | {"declared": source("declared", "def size(x: int) -> int:\n    return x\n")}
    _, state = cold(sources)
    sources["helpers"] = replace(sources["helpers"], text=sources["helpers"].text.replace("n + 1", "n + 2"))
    _, engine, _ = asked(state, sources)
    parsed: list[str] = []
    parse = ast.parse
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", lambda text, *a, **how: parsed.append(text) or parse(text, *a, **how))
        state = engine.state()
    assert state is not None
    assert not parsed
    assert followed(state, sources) == (cold(sources)[0], [])


def test_a_function_with_many_lambdas_is_followed() -> None:
    lambdas = "".join(f"    f{n} = lambda t: [lambda u: u.cuda().item(), t]\n" for n in range(12))
    sources = project() | {"many": source("many", f"def many():\n{lambdas}    return f1\n")}
    _, state = cold(sources)
    sources["helpers"] = replace(sources["helpers"], text=sources["helpers"].text.replace("n + 1", "n + 2"))
    result, _, is_new = asked(state, sources)
    assert not is_new
    assert result == cold(sources)[0]
