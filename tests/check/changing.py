"""A small project that changes: random edits of its bodies, signatures, names and files."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.result import CheckResult

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
        from base import *

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
    "nets": """
        import torch
        from torch import nn
        from dataclasses import dataclass
        import helpers as tools

        @dataclass
        class Batch:
            ids: torch.Tensor
            size: int = 0

            def longest(self):
                return self.ids.max()

        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self._make()

            def _make(self):
                self.weight = torch.zeros(3)

            def forward(self, x):
                return tools.apply(self._scaled, x)

            def _scaled(self, x):
                return x * self.weight

        class Wide(Layer):
            def _more(self):
                self.bias = torch.ones(3)

            def forward(self, x):
                y = super().forward(x)
                return y + self.weight.max().item()

        def run(batch: Batch, layer=None):
            layer = layer or Wide()
            out = layer(batch.ids)
            print(out.sum().item(), batch.longest().item())
            return out
    """,
    "main": """
        import torch
        import nets
        import base
        from derived import Fast, Slow

        def main(which):
            runner = Fast("cuda") if which else Slow("cpu")
            batch = torch.zeros(3, device="cuda")
            out = runner.prepare(batch)
            if out.any():
                print(out)
            nets.run(nets.Batch(batch, 3))
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
    "print(added(batch).item())",
    "print(self.more(batch).item(), self.size)",
    "x = base.added(batch)",
    "self._make()",
    "print(tools.plain(x), Alias, nets.Batch(x).ids.item())",
    "from helpers import plain as added",
    "more(lens, plain(x))",
)


def source(name: str, text: str) -> Source:
    """A file."""
    return Source(Path(f"{name}.py"), f"{name}.py", name, text)


def project() -> dict[str, Source]:
    """The files, by their names."""
    return {name: source(name, dedented(text)) for name, text in MODULES.items()}


def dedented(text: str) -> str:
    return "\n".join(line[8:] for line in text.split("\n"))


def body(rng: random.Random, text: str) -> str:
    """Another line somewhere inside, or one less."""
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
    """Other parameters, annotations, decorators or bases."""
    others = ("(self, batch, more=None)", "(self, *batch)", "(self, other)", "(self, batch: torch.Tensor)")
    changes = [("(self, batch)", other) for other in others]
    changes += [("(self, x)", "(self, x: torch.Tensor, y=3)"), ("(self)", "(self, other=None)")]
    changes += [("(x)", "(x) -> torch.Tensor"), ("(n)", "(n, *, m=2)"), ("batch, lens", "lens, batch")]
    changes += [("(Runner)", ""), ("class Batch:", "class Batch(Runner):"), ("(Layer)", "(nn.Module)")]
    changes += [("@dataclass\n", ""), ("class Fast(", "class Slow:\n    pass\n\nclass Fast(")]
    changes += [("    @property\n", ""), ("    def longest", "    @property\n    def longest")]
    return text.replace(*rng.choice(changes), 1)


def rename(rng: random.Random, text: str) -> str:
    """Another name for something, here or everywhere."""
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


TOP = (
    "from helpers import total as added",
    "from derived import Fast as Runner",
    "import base",
    "import helpers as tools",
    "Alias = Runner",
    'limit = torch.zeros(3, device="cuda")',
    "def added(x):\n    return x.cpu()",
    "def plain(n: torch.Tensor):\n    return n.tolist()",
    "class Runner:\n    lens: torch.Tensor\n\n    def step(self, batch):\n        return batch.item()",
    "class Alias(Runner):\n    def step(self, batch):\n        return batch.tolist()",
    "class Deep(Layer):\n    def forward(self, x):\n        return x.item()",
)
MEMBERS = (
    "def more(self, x):\n    return x.cpu()",
    "@property\ndef more(self):\n    return self.lens.item()",
    "def step(self, batch, *, how=1):\n    return self.lens",
    "def forward(self, x=None):\n    self._make()\n    return x",
    "def _make(self):\n    self.lens = torch.zeros(2)\n    self._more()",
    "def __init__(self, *a):\n    self._more()\n    self.extra = a",
    "def __call__(self, x):\n    return self.lens",
    "@staticmethod\ndef plain(x):\n    return x.item()",
    "extra: torch.Tensor",
    'size = torch.ones(3, device="cuda")',
    "more = None",
)


def defined(rng: random.Random, text: str) -> str:
    """A definition, an import or another name, in the module or in a class of it."""
    if not _parses(text):
        return text
    tree, lines = ast.parse(text), text.split("\n")
    if rng.random() < 0.5:
        place = rng.choice([node.lineno - 1 for node in tree.body] or [0])
        return "\n".join([*lines[:place], rng.choice(TOP), *lines[place:]])
    inside = [node for each in _classes(tree) for node in each.body]
    if not inside:
        return text
    node = rng.choice(inside)
    place = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
    added = [" " * node.col_offset + line for line in rng.choice(MEMBERS).split("\n")]
    return "\n".join([*lines[:place], *added, *lines[place:]])


def undefined(rng: random.Random, text: str) -> str:
    """A definition or an import less."""
    if not _parses(text):
        return text
    tree, lines = ast.parse(text), text.split("\n")
    sorts = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign, ast.Assign)
    owners = [tree, *(each for each in _classes(tree) if len(each.body) > 1)]
    nodes = [node for owner in owners for node in owner.body if isinstance(node, sorts)]
    if not nodes:
        return text
    node = rng.choice(nodes)
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
    return "\n".join([*lines[:first], *lines[node.end_lineno :]])


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


EDITS: tuple[Callable[[random.Random, str], str], ...] = (
    body, body, body, body, signature, rename, defined, defined, defined, undefined,
)  # fmt: skip


def changed(rng: random.Random, sources: dict[str, Source]) -> None:
    """Make one edit."""
    if rng.random() < 0.05:
        moved(rng, sources)
    else:
        name = rng.choice([*sources])
        text = rng.choice(EDITS)(rng, sources[name].text)
        if _parses(text) or rng.random() < 0.1:
            sources[name] = replace(sources[name], text=text)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def asked(engine: Engine, sources: dict[str, Source]) -> tuple[CheckResult, Counter[str]]:
    """What an engine says, and how often each stage of its work made progress."""
    stages: Counter[str] = Counter()
    return engine.check([*sources.values()], None, lambda stage, *_: stages.update([stage])), stages
