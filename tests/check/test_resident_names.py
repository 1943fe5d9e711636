"""An engine that stays follows names after edits: methods called by name, attributes of other objects, registers."""

from __future__ import annotations

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import source
from tests.check.test_resident import asked
from tests.check.test_state import cold, followed

FILES = {
    "calls": """\
import torch
class Printer:
    def on_step(self, x):
        return x.item()
    def on_end(self, x):
        return x
class Handler:
    def __init__(self, callbacks):
        self.callbacks = callbacks
    def fire(self, event, x):
        for callback in self.callbacks:
            getattr(callback, event)(x)
""",
    "use": """\
import torch
from calls import Handler, Printer
handler = Handler([Printer()])
handler.fire("on_end", torch.ones((), device="cuda"))
handler.fire("on_step", 1)
""",
    "wrap": """\
import torch
class Inner:
    def __init__(self):
        self.x = torch.ones((), device="cuda")
class Wrapper:
    def __init__(self):
        self.inner = Inner()
        self.other = 1
    def __getattr__(self, name):
        return getattr(self.other, name)
def read():
    return Wrapper().x.item()
""",
    "table": """\
import torch
TABLE = {}
def register(cls):
    return cls
@register
class Entry:
    def read(self):
        return torch.ones((), device="cuda")
def use():
    return TABLE["a"]().read().item()
""",
    "asking": """\
def exists(x):
    return bool(x is not None)
""",
    "search": """\
import torch
from asking import exists
def use(net, end=None):
    out = net(3).cuda()
    if not exists(end):
        return out
    if (out == end).any():
        return out + 1
""",
    "asking_of_a_class": """\
class Asks:
    def here(x):
        return bool(x is not None)
here = Asks.here
""",
    "search_by_method": """\
import torch
from asking_of_a_class import here
def use(net, end=None):
    out = net(3).cuda()
    if not here(end):
        return out
    if (out == end).any():
        return out + 1
""",
}
EDITS = {
    "the names that a caller passes": ("use", '"on_end"', '"on_step"'),
    "what a caller passes beside a name": ("use", '"on_step", 1', '"on_step", torch.ones((), device="cuda")'),
    "how a method calls by name": ("calls", "getattr(callback, event)(x)", "callback.on_step(x)"),
    "whom __getattr__ asks": ("wrap", "getattr(self.other, name)", "getattr(self.inner, name)"),
    "a class without __getattr__": (
        "wrap",
        "    def __getattr__(self, name):\n        return getattr(self.other, name)\n",
        "",
    ),
    "whether a function asks for None alone": ("asking", "bool(x is not None)", "x is not None"),
    "whether a method asks for None alone": ("asking_of_a_class", "bool(x is not None)", "x is not None"),
    "a decorator that registers": ("table", "    return cls\n", '    TABLE["a"] = cls\n    return cls\n'),
}
FOUND = {"a class without __getattr__": 0}


@pytest.mark.parametrize("edit", EDITS)
def test_what_a_name_leads_to_is_followed(edit: str) -> None:
    changed, old, new = EDITS[edit]
    assert old in FILES[changed]
    engine = Engine(Conventions())
    for text, found in [(FILES[changed], 0), (FILES[changed].replace(old, new), FOUND.get(edit, 1))] * 2:
        sources = {name: source(name, each) for name, each in (FILES | {changed: text}).items()}
        result, _ = asked(engine, sources)
        assert result == asked(Engine(Conventions()), sources)[0]
        assert len(result.findings) == found


@pytest.mark.parametrize("edit", EDITS)
def test_what_a_name_leads_to_is_followed_in_a_later_run(edit: str) -> None:
    changed, old, new = EDITS[edit]
    _, state = cold({name: source(name, text) for name, text in FILES.items()})
    sources = {
        name: source(name, text)
        for name, text in (FILES | {changed: FILES[changed].replace(old, new)}).items()
    }
    result, _ = followed(state, sources)
    assert result == asked(Engine(Conventions()), sources)[0]
    assert len(result.findings) == FOUND.get(edit, 1)
