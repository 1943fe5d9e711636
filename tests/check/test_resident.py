"""An engine that is asked again says what a new one says, and works out little for that."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from pathlib import Path

import pytest

from syncscan.check.engine import Engine
from syncscan.check.infer.source.merge import merge
from syncscan.check.resident import Resident
from syncscan.config import Config
from syncscan.model import Conventions
from tests.check.changing import MODULES, asked, body, changed, dedented, project, rename, source


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
    assert again > 18  # or this shows nothing


def test_only_what_a_change_changes_is_worked_out() -> None:
    sources, engine = project(), Engine(Conventions())
    _, first = asked(engine, sources)
    sources["helpers"] = replace(sources["helpers"], text=sources["helpers"].text.replace("n + 1", "n + 2"))
    _, stages = asked(engine, sources)
    assert first["read"] == 5
    assert first["infer"] > 15
    assert (stages["read"], stages["infer"]) == (0, 1)


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


def test_an_edit_beside_a_field_that_is_kept_on_the_host_is_followed() -> None:
    kept = "def fields():\n    return dict(sizes=Field.batched(1, keep_on_cpu=True))\n"
    use = "from a import fields\nimport torch\n\ndef use(d):\n    print(d['sizes'].to('cuda'))\n"
    sources = {"a": source("a", f"{kept}def f():\n    pass\n"), "b": source("b", use)}
    engine = Engine(Conventions())
    asked(engine, sources)
    for does in ("return fields()", "print(f())", "return Field.batched(2)"):
        sources["a"] = source("a", f"{kept}def f():\n    {does}\n")
        expected, _ = asked(Engine(Conventions()), sources)
        result, stages = asked(engine, sources)
        assert result == expected
        assert not stages["read"]


def test_a_file_that_keeps_fields_on_the_host_is_followed_where_it_comes_and_goes() -> None:
    kept = "def fields():\n    return dict(sizes=Field.batched(1, keep_on_cpu=True))\n"
    use = "from a import fields\nimport torch\n\ndef use(d):\n    print(d['sizes'].to('cuda'))\n"
    other = source("c", "def f():\n    pass\n")
    sources, engine = {"b": source("b", use), "c": other}, Engine(Conventions())
    for text in ("", kept, "", kept.replace("True", "False"), kept, ""):
        sources.pop("a", None)
        if text:
            sources["a"] = source("a", text)
        expected, _ = asked(Engine(Conventions()), sources)
        assert asked(engine, sources)[0].findings == expected.findings
        assert ("SYN302" in {finding.code for finding in expected.findings}) is (text == kept)


IN_A_PACKAGE = "import torch\ndef make():\n    return torch.zeros(3)\n"
ELSEWHERE = IN_A_PACKAGE.replace("zeros(3)", 'zeros(3, device="cuda")')


@pytest.mark.parametrize(
    "use",
    [
        "import top.mid.low\ndef use():\n    return top.mid.low.make().item()\n",
        "import top.mid.low as low\ndef use():\n    return low.make().item()\n",
        "from top import mid\ndef use():\n    return mid.low.make().item()\n",
        "from top.mid import low\ndef use():\n    return low.make().item()\n",
        "import top\nwhole = top\ndef use():\n    return whole.mid.low.make().item()\n",
        "from top.mid.low import make\ndef use():\n    return make().item()\n",
        "from top.mid.low import make as made\nagain = made\ndef use():\n    return again().item()\n",
        "from top.mid.low import make\nread = lambda: make().item()\n",
        "from top.mid.low import make\ndef use(x, get=lambda: make()):\n    return get().item()\n",
        "def use():\n    from top.mid import low\n    return low.make().item()\n",
        "from top.mid.low import *\ndef use():\n    return make().item()\n",
        "from again import *\ndef use():\n    return make().item()\n",
        "import again\ndef use():\n    return again.make().item()\n",
        "def use():\n    from again import make\n    return make().item()\n",
        "from top.mid.low import make\nx = make().item()\n",
        "from top.mid.low import make\nclass C:\n    row = make().item()\n",
        "from top.mid.low import make\nclass C:\n    def f(self):\n        return make().item()\n",
    ],
)
def test_a_name_is_followed_through_whatever_means_its_module(use) -> None:
    texts = {
        "top": "", "top.mid": "", "top.mid.low": IN_A_PACKAGE, "other": ELSEWHERE, "user": use,
        "between": "from top.mid.low import make\n", "again": "from top.mid.low import *\n", "apart": "def f():\n    return 1\n",
    }  # fmt: skip
    sources = {
        name: replace(source(name.replace(".", "/"), text), module=name) for name, text in texts.items()
    }
    engine = Engine(Conventions())
    low = sources["top.mid.low"]
    for text, count in [(IN_A_PACKAGE, 0), ("from other import make\n", 1), (IN_A_PACKAGE, 0)]:
        sources["top.mid.low"] = replace(low, text=text)
        result, _ = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == count


def test_a_change_works_out_the_lambdas_that_mention_what_it_defines_and_no_other() -> None:
    engine = Engine(Conventions())
    sources = {
        "low": source("low", IN_A_PACKAGE),
        "user": source(
            "user", "from low import make\nread = lambda: make().item()\nplain = lambda x: x + 1\n"
        ),
        "apart": source("apart", "make = None\nread = lambda: make\nmore = lambda x: x\n"),
        "other": source("other", ELSEWHERE),
    }
    asked(engine, sources)
    sources["low"] = source("low", "from other import make\n")
    result, stages = asked(engine, sources)
    assert result == asked(Engine(Conventions()), sources)[0]
    assert (len(result.findings), stages["read"], stages["infer"]) == (1, 0, 3)


GIVEN = "import torch\nclass Row:\n    def get(self):\n        return torch.zeros(3)\n"
GIVEN_ON_GPU = GIVEN.replace("zeros(3)", 'zeros(3, device="cuda")').replace("class Row", "class Other")


@pytest.mark.parametrize(
    "use",
    [
        "class Holder:\n    row: Row\ndef use(h: Holder):\n    return h.row.get().item()\n",
        "class Holder:\n    row: 'Row'\nclass Below(Holder):\n    pass\ndef use(h: Below):\n    return h.row.get().item()\n",
        "class Holder:\n    rows: list[Row]\ndef use(h: Holder):\n    return h.rows[0].get().item()\n",
        "def use(row: Row):\n    return row.get().item()\n",
        "def use(row: 'Row | None'):\n    return row.get().item()\n",
        "def give() -> Row: ...\ndef use():\n    return give().get().item()\n",
        "def use(x):\n    row: Row = x\n    return row.get().item()\n",
        "class Below(Row):\n    pass\ndef use(row: Below):\n    return row.get().item()\n",
        "def use(x):\n    if isinstance(x, Row):\n        return x.get().item()\n",
        "def use(x):\n    return Row.get(x).item()\n",
        "def use(x):\n    return Row().get().item()\n",
        "Alias = Row\ndef use(x: Alias):\n    return x.get().item()\n",
        "import rows\ndef use(row: rows.Row):\n    return row.get().item()\n",
        "import rows as named\nclass Holder:\n    row: named.Row\ndef use(h: Holder):\n    return h.row.get().item()\n",
        "import rows\nclass Below(rows.Row):\n    pass\ndef use(row: Below):\n    return row.get().item()\n",
        "import rows\ndef use(x):\n    if isinstance(x, rows.Row):\n        return x.get().item()\n",
    ],
)
def test_what_a_declaration_means_is_followed_to_those_who_read_what_it_declares(use) -> None:
    sources = {
        "rows": source("rows", GIVEN), "others": source("others", GIVEN_ON_GPU),
        "user": source("user", f"import torch\nfrom rows import Row\n{use}"),
        "apart": source("apart", "def f():\n    return 1\n"),
    }  # fmt: skip
    engine = Engine(Conventions())
    for text, count in [
        (GIVEN, 0),
        ("from others import Other as Row\n", 1),
        (GIVEN, 0),
        ("Row = None\n", 0),
    ]:
        sources["rows"] = source("rows", text)
        result, _ = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == count


LIBRARY = """\
import torch
def make():
    return torch.zeros(3)
def put(x, where="cpu"):
    return x.to(where)
class Base:
    def run(self, x):
        return self.get()
    def get(self):
        return torch.zeros(3)
def give() -> Given:
    ...
class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._make()
    def _make(self):
        self.w = torch.zeros(3)
    def forward(self, x):
        return x
"""
USES = """\
import torch
import library
from library import Base, Layer, give, make, put
def four():
    give().get().item()
def one():
    make().item()
    library.more().item()
    put(torch.zeros(3)).item()
def two(b: Base):
    b.run(1).item()
    b.extra.item()
    b.late(torch.zeros(2)).item()
def three(layer: Layer, t):
    layer(torch.zeros(2)).item()
    layer.w.item()
class Below(Base):
    def set(self, x):
        pass
with torch.device("cuda"):
    three(Layer(), 1)
two(Below())
def unrelated(x):
    return x + 1
"""
ON_GPU = 'torch.zeros(3, device="cuda")'


@pytest.mark.parametrize(
    ("name", "old", "new"),
    {
        "a function more": ("library", "def make", f"def more():\n    return {ON_GPU}\ndef make"),
        "a function in the place of another": ("uses", "def one", f"def make():\n    return {ON_GPU}\ndef one"),
        "a function less": ("library", "def make():\n    return torch.zeros(3)\n", "make = None\n"),
        "an import": ("uses", "import Base, Layer, give, make, put", "import Base, Layer, give, put\nfrom other import make"),
        "an import of an import": ("library", "def make():\n    return torch.zeros(3)", "from other import make"),
        "an import in a function": ("uses", "    make().item()", "    from other import make\n    make().item()"),
        "a default": ("library", 'where="cpu"', 'where="cuda"'),
        "a parameter more": ("library", 'x, where="cpu"', 'x, other=1, where="cuda"'),
        "a method more": ("library", "    def get", f"    def late(self, x):\n        return {ON_GPU}\n    def get"),
        "a method below": ("uses", "    def set", f"    def get(self):\n        return {ON_GPU}\n    def set"),
        "a class below": ("uses", "two(Below())", f"class C(Below):\n    def get(self):\n        return {ON_GPU}\ntwo(C())"),
        "a property": ("library", "    def get", f"    @property\n    def extra(self):\n        return {ON_GPU}\n    def get"),
        "a decorator": ("library", "    def run(self, x):\n        return self.get()", "    @staticmethod\n    def run(x):\n        return x"),
        "a first attribute": ("uses", "        pass", f"        self.extra = {ON_GPU}"),
        "an attribute of a class": ("library", "    def run", f"    extra = {ON_GPU}\n    def run"),
        "a declaration": ("library", "    def run", "    extra: torch.Tensor\n    def run"),
        "a return annotation": ("library", "def put(x,", "def more() -> torch.Tensor: ...\ndef put(x,"),
        "what else makes an object": ("library", "        self._make()", "        pass"),
        "who is called by calling": ("library", "    def forward", f"    def __call__(self, x):\n        return {ON_GPU}\n    def forward"),
        "what an annotation means": ("library", "class Layer", f"class Given:\n    def get(self):\n        return {ON_GPU}\nclass Layer"),
        "another name": ("library", "class Base:", f"more = make\ndef make():\n    return {ON_GPU}\nclass Base:"),
        "another module": ("other", "def make", "import library as uses\ndef make"),
    }.values(),
)  # fmt: skip
def test_what_is_defined_otherwise_is_followed_to_those_who_look_it_up(name, old, new) -> None:
    texts = {"library": LIBRARY, "uses": USES, "other": f"import torch\ndef make():\n    return {ON_GPU}\n"}
    sources = {each: source(each, text) for each, text in texts.items()}
    engine = Engine(Conventions())
    before, first = asked(engine, sources)
    assert old in texts[name]
    sources[name] = source(name, texts[name].replace(old, new, 1))
    result, stages = asked(engine, sources)
    assert result == asked(Engine(Conventions()), sources)[0]
    assert (result != before) is (name != "other")
    assert not stages["read"]
    assert stages["infer"] + stages["assume"] < (first["infer"] + first["assume"]) * 0.8
    sources[name] = source(name, texts[name])
    assert asked(engine, sources)[0] == before


def test_a_change_that_concerns_most_of_a_project_is_worked_out_anew(monkeypatch) -> None:
    monkeypatch.setattr("syncscan.check.infer.solve.solver._FEW", 5)
    sources, engine = project(), Engine(Conventions())
    asked(engine, sources)
    for name, old, new, is_anew in [
        ("helpers", "n + 1", "n + 2", False),
        ("base", "device=device", 'device="cuda"', True),
    ]:
        sources[name] = replace(sources[name], text=sources[name].text.replace(old, new))
        result, stages = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert bool(stages["read"]) is is_anew


def test_files_that_are_new_or_gone_are_followed_to_those_who_import_them() -> None:
    user = "from b import c, d\nfrom b.c import make\ndef use(x):\n    make().item()\n    c.make().item()\n    d.make().item()\n"
    made = f"import torch\ndef make():\n    return {ON_GPU}\n"
    sources, engine = (
        {"a": source("a", user), "e": source("e", "def f():\n    pass\n")},
        Engine(Conventions()),
    )
    assert not asked(engine, sources)[0].findings
    for name, count in [("b.c", 2), ("b.d", 3), ("b.c", 1), ("b", 1), ("b.d", 0), ("b.c", 2)]:
        if name in sources:
            del sources[name]
        else:
            sources[name] = replace(source(name.replace(".", "/"), made), module=name)
        result, stages = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == count
        assert not stages["read"]


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


def test_a_file_that_is_being_typed_counts_as_it_was() -> None:
    made, read = f"import torch\nt = {ON_GPU}\nt.item()\n", "from a import t\nt.item()\n"
    sources = {"a": source("a", made), "b": source("b", read)}
    engine = Engine(Conventions(), keeps_python=True)
    assert len(asked(engine, sources)[0].findings) == 2
    for text in ("t.item(", "t.item(\n", "\0"):
        sources["a"] = source("a", made + text)
        result, stages = asked(engine, sources)
        assert ([each.path for each in result.findings], [each.path for each in result.failed]) == (
            ["b.py"],
            ["a.py"],
        )
        assert not stages["infer"]
    for base, is_anew in [("", False), ("dict", True)]:
        sources["b"] = source("b", f"{read}class Made({base}):\n    pass\nclass Below(Made):\n    pass\n")
        result, stages = asked(engine, sources)
        assert ([each.path for each in result.findings], [each.path for each in result.failed]) == (
            ["b.py"],
            ["a.py"],
        )
        assert bool(stages["read"]) is is_anew
    sources["a"] = source("a", made + "t.cpu()\n")
    assert asked(engine, sources)[0] == asked(Engine(Conventions()), sources)[0]
    sources["a"] = source("a", made + "t.cpu(\n")
    asked(engine, sources)
    del sources["a"]
    assert asked(engine, sources)[0] == asked(Engine(Conventions()), sources)[0]


def test_files_that_come_and_go_are_no_other_project() -> None:
    resident, config = Resident(), Config(Path())
    few, many = ([source(f"{name}{n}", "") for n in range(count)] for name, count in (("a", 3), ("b", 100)))
    engine = resident.engine(few, config, None)
    assert resident.engine(few[:2], config, None) is engine
    assert resident.engine([*few, *many], config, None) is not engine
    assert resident.engine(few, config, None) is engine
    assert resident.engine(few, Config(Path(), hot=("a0:f",)), None) is not engine


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
