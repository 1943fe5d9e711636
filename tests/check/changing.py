"""A small project that changes: random edits of its bodies, signatures, names and files."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from syncscan.check.files import Source

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
    """A file."""
    return Source(Path(f"{name}.py"), f"{name}.py", name, text)


def project() -> dict[str, Source]:
    """The files, by their names."""
    return {name: source(name, dedented(text)) for name, text in MODULES.items()}


def dedented(text: str) -> str:
    return "\n".join(line[8:] for line in text.split("\n"))


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
    """Other parameters."""
    return text.replace(
        "(self, batch)", rng.choice(["(self, batch, more=None)", "(self, *batch)", "(self, other)"]), 1
    )


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


EDITS: tuple[Callable[[random.Random, str], str], ...] = (body, body, body, body, body, signature, rename)


def changed(rng: random.Random, sources: dict[str, Source]) -> None:
    """Make one edit."""
    if rng.random() < 0.05:
        moved(rng, sources)
    else:
        name = rng.choice([*sources])
        sources[name] = replace(sources[name], text=rng.choice(EDITS)(rng, sources[name].text))
