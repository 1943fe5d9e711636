"""An engine that is asked again says what a new one says, and works out little for that."""

from __future__ import annotations

import ast
import random
from collections import Counter
from dataclasses import replace

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.infer.source.merge import merge
from syncscan.check.matching import CheckResult
from syncscan.model import Conventions
from tests.check.changing import MODULES, body, changed, dedented, project, rename, source


def asked(engine: Engine, sources: dict[str, Source]) -> tuple[CheckResult, Counter[str]]:
    """What an engine says, and how often each stage of its work made progress."""
    stages: Counter[str] = Counter()
    return engine.check([*sources.values()], None, lambda stage, *_: stages.update([stage])), stages


@pytest.mark.parametrize("seed", range(12))
def test_an_engine_that_is_asked_again_says_what_a_new_one_says(seed) -> None:
    rng = random.Random(seed)
    sources, engine = project(), Engine(Conventions())
    first, _ = asked(engine, sources)
    assert len(first.findings) > 4
    again = 0
    for _ in range(25):
        changed(rng, sources)
        result, stages = asked(engine, sources)
        expected, _ = asked(Engine(Conventions()), sources)
        assert result.findings == expected.findings
        assert result.failed == expected.failed
        again += not stages["read"]
    assert again > 8  # or this shows nothing


def test_only_what_a_change_changes_is_worked_out() -> None:
    sources, engine = project(), Engine(Conventions())
    _, first = asked(engine, sources)
    sources["helpers"] = replace(sources["helpers"], text=sources["helpers"].text.replace("n + 1", "n + 2"))
    _, stages = asked(engine, sources)
    assert first["read"] == 4
    assert first["infer"] > 15
    assert (stages["read"], stages["infer"]) == (0, 1)


def test_findings_and_their_evidence_move_with_their_lines() -> None:
    sources, engine = project(), Engine(Conventions())
    before, _ = asked(engine, sources)
    text = sources["base"].text
    sources["base"] = replace(
        sources["base"], text=text.replace("self.host = None", "self.host = None\n        # here")
    )
    after, stages = asked(engine, sources)
    assert not stages["read"]

    def down(line: int, path: str) -> int:
        return line + (path == "base.py" and line > text[: text.index("self.host")].count("\n") + 1)

    assert [(f.path, f.line) for f in after.findings] == [
        (f.path, down(f.line, f.path)) for f in before.findings
    ]
    assert [(e.path, e.line) for f in after.findings for e in f.evidence] == [
        (e.path, down(e.line, e.path)) for f in before.findings for e in f.evidence
    ]
    assert any(e.line > 12 for f in after.findings for e in f.evidence if e.path == "base.py")


def test_what_a_change_no_longer_says_is_taken_back() -> None:
    on_gpu = 'import torch\ndef make():\n    return torch.zeros(3, device="cuda")\n'
    sources = {
        "a": source("a", on_gpu),
        "b": source("b", "from a import make\n\ndef use():\n    make().item()\n"),
    }
    engine = Engine(Conventions())
    assert [f.path for f in asked(engine, sources)[0].findings] == ["b.py"]
    sources["a"] = source("a", on_gpu.replace('"cuda"', '"cpu"'))
    assert asked(engine, sources)[0].findings == []
    sources["a"] = source("a", on_gpu)
    assert [f.path for f in asked(engine, sources)[0].findings] == ["b.py"]


def test_a_field_that_is_kept_on_the_host_no_longer_is_followed_to_those_that_import_it() -> None:
    kept = "def fields():\n    return dict(sizes=Field.batched(1, keep_on_cpu=True))\n"
    sources = {
        "a": source("a", kept),
        "b": source(
            "b", "from a import fields\nimport torch\n\ndef use(d):\n    print(d['sizes'].to('cuda'))\n"
        ),
    }
    engine = Engine(Conventions())
    for text in (kept, kept.replace("=True", "=False"), kept.replace("sizes", "masks"), "x = 1\n", kept):
        sources["a"] = source("a", text)
        expected, _ = asked(Engine(Conventions()), sources)
        assert asked(engine, sources)[0].findings == expected.findings
        assert ("SYN302" in {finding.code for finding in expected.findings}) is (text == kept)


MIRROR = """\
import numpy as np
import torch


class States:
    def __init__(self, n):
        self.lens = torch.zeros(n, device="cuda")
        self.lens_np = np.zeros(n, dtype=np.int32)

    def step(self, rows):
        self.lens_np[rows] += 1

    def read(self, other):
        print(other)
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("import torch\ndef f(x):\n    print(x)\n", "print(x)", "x.unsqueeze(0).tolist()"),
        (MIRROR, "print(other)", "self.lens_np[:] = other"),
    ],
    ids=["what is used as a tensor", "a mirror that is refreshed"],
)
def test_what_is_read_of_a_function_once_is_read_again_where_it_changes(text, old, new) -> None:
    before, after = source("a", text), source("a", text.replace(old, new))
    engine = Engine(Conventions())
    first, _ = asked(engine, {"a": before})
    result, stages = asked(engine, {"a": after})
    assert result == asked(Engine(Conventions()), {"a": after})[0] != first
    assert not stages["read"]
    assert asked(engine, {"a": before})[0] == first


def test_a_file_that_does_not_parse_for_a_while_costs_nothing_but_time() -> None:
    sources, engine = project(), Engine(Conventions())
    before, _ = asked(engine, sources)
    whole = sources["helpers"]
    sources["helpers"] = replace(whole, text=whole.text + "\ndef (")
    broken, _ = asked(engine, sources)
    assert [failure.path for failure in broken.failed] == ["helpers.py"]
    sources["helpers"] = whole
    assert asked(engine, sources)[0] == before


@pytest.mark.parametrize("seed", range(8))
def test_a_merged_tree_is_the_tree_of_the_new_text(seed) -> None:
    rng = random.Random(seed)
    text = "\n".join(map(dedented, MODULES.values()))
    tree = ast.parse(text)
    kept = 0
    for _ in range(20):
        new = rng.choice((body, rename))(rng, text)
        try:
            parsed = ast.parse(new)
        except SyntaxError:
            continue
        nodes = {id(node) for node in ast.walk(tree)}
        merge(tree, parsed, text.split("\n"), new.split("\n"))
        assert ast.dump(tree, include_attributes=True) == ast.dump(ast.parse(new), include_attributes=True)
        kept += sum(id(node) in nodes for node in ast.walk(tree)) > len(nodes) * 0.6
        text = new
    assert kept > 5
