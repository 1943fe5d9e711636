"""An engine that is asked again says what a new one says, and works out little for that."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.infer.source.merge import merge
from syncscan.check.matching import CheckResult
from syncscan.model import Conventions

MODULES = {
    "base": """
        import torch
        from helpers import total, apply

        LIMIT = 4
        scale = torch.ones(3, device="cuda")

        class Runner:
            size: int = 3

            def __init__(self, device):
                self.lens = torch.zeros(LIMIT, device=device)
                self.host = None
                self._cached = None

            @property
            def longest(self):
                return self.lens.max().item()

            def prepare(self, batch, copy=lambda t: t.clone()):
                self.batch = copy(batch)
                return self.step(batch)

            def step(self, batch):
                return total(batch, self.lens)

            def forward(self, x):
                if self._cached is None:
                    self._cached = x.cpu()
                return apply(lambda t: t * scale, x)
    """,
    "derived": """
        from base import Runner

        class Fast(Runner):
            def step(self, batch):
                self.extra = batch
                return batch.sum()

            def read(self):
                return int(self.step(self.batch)), self.longest

        class Slow(Runner):
            def step(self, batch):
                def inner(t):
                    nonlocal found
                    found = t
                    return t.tolist()

                found = None
                inner(batch)
                return found
    """,
    "helpers": """
        def total(batch, lens, keep=None):
            match keep:
                case [first, *_] if first:
                    return first
            for each in batch:
                if each > 0:
                    lens = lens + each
            return lens

        def apply(function, x):
            return function(x)

        def plain(n):
            return n + 1
    """,
    "main": """
        import torch
        import base
        from derived import Fast, Slow

        def main(which):
            runner = Fast("cuda") if which else Slow("cpu")
            batch = torch.zeros(3, device="cuda")
            out = runner.prepare(batch)
            if out.any():
                print(out)
            return runner.read(), runner.forward(batch).numpy()
    """,
}
LINES = (
    "x = batch",
    "x = self.lens",
    "self.lens = self.lens.cpu()",
    "self.batch = torch.zeros(2)",
    'batch = torch.zeros(3, device="cuda")',
    "print(self.extra.item())",
    "f = lambda t: t.cpu()",
    "return total(self.lens, batch)",
    "# a comment",
    "",
    "pass",
    "self.fresh = batch",
    "lens = [batch, batch]",
)


def source(name: str, text: str) -> Source:
    return Source(Path(f"{name}.py"), f"{name}.py", name, text)


def project() -> dict[str, Source]:
    return {name: source(name, _dedented(text)) for name, text in MODULES.items()}


def _dedented(text: str) -> str:
    return "\n".join(line[8:] for line in text.split("\n"))


def asked(engine: Engine, sources: dict[str, Source]) -> tuple[CheckResult, Counter[str]]:
    """What an engine says, and how often each stage of its work made progress."""
    stages: Counter[str] = Counter()
    return engine.check([*sources.values()], None, lambda stage, *_: stages.update([stage])), stages


def body(rng: random.Random, text: str) -> str:
    """Another line in a function, or one less."""
    lines = text.split("\n")
    inside = [n for n, line in enumerate(lines) if line.startswith("    ") and n > 0]
    if not inside:
        return text + "print(1)\n"
    place = rng.choice(inside)
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    if rng.random() < 0.3:
        del lines[place]
    else:
        lines.insert(place, indent + rng.choice(LINES))
    return "\n".join(lines)


def signature(rng: random.Random, text: str) -> str:
    return text.replace(
        "(self, batch)", rng.choice(["(self, batch, more=None)", "(self, *batch)", "(self, other)"]), 1
    )


def rename(rng: random.Random, text: str) -> str:
    old = rng.choice(["step", "lens", "total", "Runner", "longest", "batch"])
    return text.replace(old, f"{old}_{rng.randrange(3)}", rng.choice([1, -1]))


def moved(rng: random.Random, sources: dict[str, Source]) -> None:
    """Move a class to another file, or make or delete a file."""
    kind = rng.randrange(3)
    if kind == 0 and "derived" in sources and "main" in sources:
        text = sources["derived"].text
        cut = text.find("class Slow")
        if cut > 0:
            sources["derived"] = replace(sources["derived"], text=text[:cut])
            sources["main"] = replace(sources["main"], text=sources["main"].text + text[cut:])
    elif kind == 1:
        name = f"new{rng.randrange(3)}"
        sources[name] = source(name, "from base import Runner\nRunner('cuda').lens.item()\n")
    elif len(sources) > 3:
        del sources[rng.choice([name for name in sources if name != "base"])]


EDITS: tuple[Callable[[random.Random, str], str], ...] = (body, body, body, body, body, signature, rename)


@pytest.mark.parametrize("seed", range(12))
def test_an_engine_that_is_asked_again_says_what_a_new_one_says(seed) -> None:
    rng = random.Random(seed)
    sources, engine = project(), Engine(Conventions())
    first, _ = asked(engine, sources)
    assert len(first.findings) > 4
    again = 0
    for _ in range(25):
        if rng.random() < 0.05:
            moved(rng, sources)
        else:
            name = rng.choice([*sources])
            sources[name] = replace(sources[name], text=rng.choice(EDITS)(rng, sources[name].text))
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
    text = "\n".join(map(_dedented, MODULES.values()))
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
