"""Evidence in an engine that is asked again: it moves with its lines, and is that of a new engine."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import asked, project, source


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


def test_evidence_at_what_was_written_anew_moves_with_that() -> None:
    text = 'import torch\ndef make():\n    n = 1\n    return torch.zeros(3, device="cuda")\ndef use():\n    make().item()\n'
    engine = Engine(Conventions())
    for old, new in [("", ""), ("return torch", "return  torch"), ("import torch", "# more\nimport torch")]:
        text = text.replace(old, new)
        sources = {"a": source("a", text)}
        result, _ = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert result.findings


def test_evidence_names_the_parameter_that_the_method_of_a_base_class_has_now() -> None:
    base = "class Base:\n    def make(self, x):\n        pass\n"
    derived = "from base import Base\nclass Derived(Base):\n    def make(self, y):\n        return y * 2\n"
    use = 'import torch\nfrom base import Base\ndef use(b: Base):\n    p = torch.zeros(3, device="cuda")\n    return b.make(p)\n'
    use += "def read(b):\n    use(b).item()\n"
    sources = {"base": source("base", base), "derived": source("derived", derived), "use": source("use", use)}
    engine = Engine(Conventions())
    for name in ("x", "z"):
        sources["base"] = source("base", base.replace("x", name))
        result, _ = asked(engine, sources)
        assert any(f"passes `{name}` to `Base.make`" in step.text for step in result.findings[0].evidence)
        assert result == asked(Engine(Conventions()), sources)[0]


LAYOUT = """\
import torch


def make(
    size,
    device,
):
    return torch.zeros(
        size,
        device=device,
    )


class Holder:
    def __init__(self):
        self.kept = make(
            3,
            "cuda",
        )

    def read(self):
        return total(
            self.kept,
        )


def total(x):
    return x.sum().item()


def use(
    batch=torch.ones(
        2,
        device="cuda",
    ),
):
    print(
        total(batch), Holder().read(),
        make(4, "cuda").tolist(),
    )
"""


@pytest.mark.parametrize("seed", range(5))
def test_evidence_stays_where_it_stands_when_only_the_layout_changes(seed) -> None:
    rng, engine = random.Random(seed), Engine(Conventions())
    lines = LAYOUT.split("\n")
    for _ in range(12):
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(lines))
            if lines[place].startswith("#"):
                del lines[place]
            elif rng.random() < 0.3 and lines[place].endswith(","):
                lines[place] += "  # one more"
            elif '"' in lines[place] or "'" in lines[place]:
                lines[place] = lines[place].translate(str.maketrans("\"'", "'\""))
            else:
                lines.insert(place, rng.choice(("# here", "")))
        sources = {"a": source("a", "\n".join(lines))}
        result, _ = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == 2


def test_evidence_that_nobody_asked_for_during_many_edits_is_where_it_stands() -> None:
    engine, text = Engine(Conventions()), LAYOUT
    for _ in range(20):
        sources = {"a": source("a", text), "b": source("b", "from a import make\n\nmake(2, 'cuda').item()\n")}
        engine.check([*sources.values()], {"b.py"} if text != LAYOUT else None, lambda *_: None)
        text = text.replace("import torch", "import torch\n# here")
    assert asked(engine, sources)[0] == asked(Engine(Conventions()), sources)[0]
