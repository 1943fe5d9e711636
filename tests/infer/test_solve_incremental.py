"""After edits the engine says what it says of the project as it is then, evidence included."""

from __future__ import annotations

import functools
import random

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import asked, changed, project, source

_engine = functools.partial(Engine, Conventions())


@pytest.mark.parametrize("seed", range(4))
def test_edits_are_followed_as_if_all_were_read_anew(seed: int) -> None:
    rng = random.Random(seed)
    sources, engine = project(), _engine()
    first, _ = asked(engine, sources)
    assert len(first.findings) > 4
    followed = 0
    for _ in range(12):
        changed(rng, sources)
        result, stages = asked(engine, sources)
        expected, _ = asked(_engine(), sources)
        assert result.findings == expected.findings
        followed += not stages["read"]
    assert followed > 6


@pytest.mark.parametrize("length", [1, 2, 5])
def test_what_functions_hand_round_goes_with_the_function_that_made_it(length: int) -> None:
    attributes = [f"x{number}" for number in range(length)]
    hands_on = "".join(
        f"    def hand_{one}(self):\n        self.{other} = self.{one}\n"
        for one, other in zip(attributes, [*attributes[1:], attributes[0]], strict=True)
    )
    text = (
        "import torch\nclass Ring:\n    def make(self):\n        self.x0 = torch.zeros(3, device='cuda')\n"
        f"{hands_on}    def read(self):\n        return self.x0.item()\n"
    )
    sources, engine = {"ring": source("ring", text)}, _engine()
    assert [each.code for each in asked(engine, sources)[0].findings] == ["SYN101"]
    for now in (text.replace("self.x0 = torch.zeros(3, device='cuda')", "pass"), text):
        sources["ring"] = source("ring", now)
        result, stages = asked(engine, sources)
        assert result == asked(_engine(), sources)[0]
        assert not stages["read"]


def test_what_functions_hand_round_stays_while_another_one_makes_it() -> None:
    hands_on = "".join(
        f"    def hand_{one}(self):\n        self.x{one} = self.x{1 - one}\n" for one in range(2)
    )
    makes = "    def {}(self):\n        self.x0 = torch.zeros(3, device='cuda')\n"
    text = (
        f"import torch\nclass Ring:\n{makes.format('make')}{makes.format('make_too')}{hands_on}"
        "    def read(self):\n        return self.x1.item()\n"
    )
    sources, engine = {"ring": source("ring", text)}, _engine()
    first = asked(engine, sources)[0]
    sources["ring"] = source("ring", text.replace("self.x0 = torch.zeros(3, device='cuda')", "pass", 1))
    result, stages = asked(engine, sources)
    assert [each.code for each in result.findings] == [each.code for each in first.findings] == ["SYN101"]
    assert result == asked(_engine(), sources)[0]
    assert not stages["read"]


def test_of_two_overriding_methods_the_first_in_the_file_is_the_evidence() -> None:
    text = "import torch\nclass Base:\n    def make(self):\n        return None\n" + "".join(
        f"class {name}(Base):\n    def make(self):\n        x = torch.zeros(3, device='cuda')\n        return x\n"
        for name in ("One", "Other")
    )
    use = "import torch\nfrom made import Base\ndef read(base: Base):\n    return base.make().item()\n"
    sources, engine = {"made": source("made", text), "use": source("use", use)}, _engine()
    first = asked(engine, sources)[0]
    assert "One" in first.findings[0].evidence[0].text
    sources["made"] = source("made", text.replace("zeros", "ones", 1))
    result, stages = asked(engine, sources)
    assert not stages["read"]
    assert result == asked(_engine(), sources)[0]


_HOLDER = """import torch
class Holder:
    def put(self, name, value):
        {body}
    def read(self):
        return self.rows.item()
    def run(self, kind):
        return getattr(self, f"_run_{{kind}}")(torch.zeros(3, device="cuda"))
    def {method}(self, x):
        return x.sum().item()
"""
_SETTER = "import torch\nfrom holder import Holder\ndef fill(h: Holder):\n    h.put('rows', torch.ones((), device='cuda'))\n"


def test_names_that_are_passed_or_computed_are_followed_after_edits() -> None:
    """A method that begins to set an attribute under a parameter's name, and one that begins to fit a computed name."""
    engine = _engine()
    found = []
    for body, method in (("pass", "other"), ("setattr(self, name, value)", "other"), ("pass", "_run_fast")):
        sources = {
            "holder": source("holder", _HOLDER.format(body=body, method=method)),
            "setter": source("setter", _SETTER),
        }
        result, stages = asked(engine, sources)
        assert result == asked(_engine(), sources)[0]
        assert not found or not stages["read"]
        found.append([each.line for each in result.findings])
    assert found == [[], [6], [10]]


def test_what_an_initialiser_keeps_of_its_arguments_is_followed_after_edits() -> None:
    """`Around(inner).to("cuda")` copies the parameters of `inner` as long as the initialiser keeps it."""
    around = (
        "from torch import nn\nclass Around(nn.Module):\n    def __init__(self, inner):\n"
        "        super().__init__()\n        {}\n"
    )
    maker = "from torch import nn\nfrom around import Around\ndef make():\n    return Around(nn.Linear(4, 4)).to('cuda')\n"
    engine, found = _engine(), []
    for body in ("self.inner = inner", "self.size = inner.in_features", "self.part = inner"):
        sources = {"around": source("around", around.format(body)), "maker": source("maker", maker)}
        result, stages = asked(engine, sources)
        assert result == asked(_engine(), sources)[0]
        assert not found or not stages["read"]
        found.append([each.code for each in result.findings])
    assert found == [["SYN302"], [], ["SYN302"]]
