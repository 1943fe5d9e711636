"""What classes and their methods become while an engine stays is what calls through them run."""

from __future__ import annotations

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import source
from tests.check.test_resident import asked

HEAD = "import torch\nfrom base import Base\n"
GPU = '    def make(self):\n        return torch.ones(3, device="cuda")\n'
HOST = "    def make(self):\n        return torch.ones(3)\n"
BASE = "import torch\nclass Base:\n    size = 3\n"
RAISES = "    def make(self):\n        raise NotImplementedError\n"
READ = "    def read(self):\n        return self.make().tolist()\n"
USE = "from base import Base\ndef use(base: Base):\n    return base.make().tolist()\n"
OTHER = "class Derived(Base):\n    size = 3\n"

# Each: the texts of `base` and `derived`, one after the other, and how many findings there are then.
CHANGES = {
    "a method of which another had the name": [
        (BASE + RAISES, OTHER + GPU + HOST, 0),
        (BASE + RAISES, OTHER + GPU, 1),
        (BASE + RAISES, OTHER + HOST + GPU, 1),
        (BASE + RAISES, OTHER + HOST, 0),
    ],
    "a method that overrides": [
        (BASE + HOST, OTHER, 0),
        (BASE + HOST, OTHER + GPU, 1),
        (BASE + HOST, OTHER + HOST, 0),
        (BASE + GPU, OTHER + HOST, 1),
        (BASE + GPU, OTHER, 1),
    ],
    "a method that is called of its own object": [
        (BASE + RAISES + READ, OTHER + HOST, 0),
        (BASE + RAISES + READ, OTHER + GPU, 2),
        (BASE + RAISES, OTHER + GPU + READ, 2),
        (BASE, OTHER + GPU + READ, 2),
    ],
    "a class that goes and comes": [
        (BASE + RAISES, OTHER + GPU, 1),
        (BASE + RAISES, "", 0),
        (BASE + RAISES, OTHER + GPU + "class Last(Derived):\n" + HOST, 1),
        (BASE + RAISES, OTHER + HOST + "class Last(Derived):\n" + GPU, 1),
        (BASE + RAISES, OTHER + HOST + "class Last(Derived):\n" + HOST, 0),
    ],
    "a property and a plain method": [
        (
            BASE + "    @property\n" + GPU,
            OTHER + "    def read(self):\n        return self.make.tolist()\n",
            1,
        ),
        (BASE + GPU, OTHER + "    def read(self):\n        return self.make.tolist()\n", 1),
        (BASE + "    @staticmethod\n" + GPU.replace("self", ""), OTHER + READ, 2),
        (BASE + "    @classmethod\n" + GPU, OTHER + READ, 2),
    ],
    "an attribute that a class declares": [
        (
            BASE + "    row: torch.Tensor\n",
            OTHER + "    def read(self):\n        return self.row.item()\n",
            1,
        ),
        (
            BASE + "    def __init__(self):\n        self.row = torch.ones(3, device='cuda')\n",
            OTHER + "    def read(self):\n        return self.row.item()\n",
            1,
        ),
        (
            BASE + "    row: torch.Tensor = torch.ones(3)\n",
            OTHER + "    def read(self):\n        return self.row.item()\n",
            0,
        ),
    ],
}


@pytest.mark.parametrize("steps", CHANGES.values(), ids=CHANGES)
def test_calls_run_what_a_class_defines_now(steps: list[tuple[str, str, int]]) -> None:
    engine = Engine(Conventions())
    for base, derived, found in [*steps, *reversed(steps)]:
        files = {"base": base, "derived": HEAD + derived, "use": USE}
        sources = {name: source(name, text) for name, text in files.items()}
        result, _ = asked(engine, sources)
        assert result.findings == asked(Engine(Conventions()), sources)[0].findings
        assert len(result.findings) == found


STAGE = "import torch\nclass Stage:\n    def apply(self, x{}):\n        raise NotImplementedError\n"
NAMES = "class Other(Stage):\n    def apply(self, x, {}=None):\n        return x\n"
TAKES = 'class Takes(Stage):\n    def apply(self, x, **kwargs):\n        return kwargs["lens"].tolist()\n'
CALLS = """\
import torch
from stage import Stage
def use(stage: Stage):
    return stage.apply(1, lens=torch.ones(3, device="cuda"))
"""


@pytest.mark.parametrize(
    "texts",
    [
        [(STAGE.format(""), NAMES.format("lens")), (STAGE.format(""), NAMES.format("size"))],
        [(STAGE.format(""), NAMES.format("lens")), (STAGE.format(""), "")],
        [(STAGE.format(""), NAMES.format("lens")), (STAGE.format(", lens=None"), NAMES.format("lens"))],
    ],
    ids=["a keyword of another name", "a class that is gone", "a keyword that the base takes"],
)
def test_a_keyword_that_no_other_method_below_names_any_more_is_for_all(texts: list[tuple[str, str]]) -> None:
    engine = Engine(Conventions())
    files = {"takes": f"from stage import Stage\n{TAKES}", "use": CALLS}
    for (stage, names), found in zip([*texts, texts[0]], [0, 1, 0], strict=True):
        files |= {"stage": stage, "other": f"from stage import Stage\n{names}"}
        sources = {name: source(name, text) for name, text in files.items()}
        result, _ = asked(engine, sources)
        assert result.findings == asked(Engine(Conventions()), sources)[0].findings
        assert len(result.findings) == found


LIBRARY = """\
import torch

def make():
    return torch.ones(3)

class Base:
    def make(self):
        return make()

class Other:
    def read(self):
        return Base().make().tolist()

def read():
    return make().tolist(), Other().read(), Base().make().item()
"""
ON_GPU = 'return torch.ones(3, device="cuda")'


@pytest.mark.parametrize(
    ("old", "new", "found"),
    {
        "a function": ("def make():\n    return", f"def make():\n    {ON_GPU}\n\ndef make():\n    return", 0),
        "a method": ("    def make(self):\n", f"    def make(self):\n        {ON_GPU}\n\n    def make(self):\n", 0),
        "a class": ("class Base:\n", f"class Base:\n    def make(self):\n        {ON_GPU}\n\nclass Base:\n", 0),
        "a function before a class": ("class Base:\n", f"def Base():\n    {ON_GPU}\n\nclass Base:\n", 0),
        "the same, and it is another one": (
            "class Base:\n    def make(self):\n        return make()",
            f"def Base():\n    pass\n\nclass Base:\n    def make(self):\n        {ON_GPU}",
            2,
        ),
        "a function around": ("class Base:\n", "if make:\n    class Base:\n        pass\n\nclass Base:\n", 0),
    }.values(),
)  # fmt: skip
def test_what_is_defined_before_another_of_its_name_is_followed(old, new, found) -> None:
    sources, engine = {"library": source("library", LIBRARY)}, Engine(Conventions())
    asked(engine, sources)
    assert old in LIBRARY
    texts = [LIBRARY.replace(old, new, 1), LIBRARY]
    for text, count in zip([*texts, *texts], [found, 0, found, 0], strict=True):
        sources["library"] = source("library", text)
        result, stages = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == count
        assert not stages["read"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    {
        "another base": ("class Base:", "class Base(OnGpu):", 2),
        "a decorator": ("class Base:", "@dataclass\nclass Base:", 1),
        "a base less": ("class Derived(OnGpu):", "class Derived:", 0),
        "a class in a class": ("    class Inner:", "    class Inner(OnGpu):", 2),
    }.values(),
)
def test_a_class_with_another_head_is_followed(old, new, found) -> None:
    library = (
        f"import torch\nfrom dataclasses import dataclass\nclass OnGpu:\n    def late(self):\n        {ON_GPU}\n"
        "class Base:\n    size: int = 3\n    class Inner:\n        pass\nclass Derived(OnGpu):\n    pass\n"
    )
    user = "from library import Base, Derived\nBase(3).late().item()\nBase.Inner().late().item()\nDerived().late().item()\n"
    sources = {"library": source("library", library), "user": source("user", user)}
    engine = Engine(Conventions())
    asked(engine, sources)
    assert old in library
    for text, count in ((library.replace(old, new), found), (library, 1)):
        sources["library"] = source("library", text)
        result, stages = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == count
        assert not stages["read"]
