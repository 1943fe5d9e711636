"""A property reads like an attribute, but its body copies from the GPU, or synchronizes in another way.

The classic trap is a property called ``seq_lens_cpu``: the name says that the lengths are on the host,
and the body copies the lengths from the GPU. Each read blocks, and no reader sees the synchronization. The evidence names the line that
blocks, and the code that placed the value on the GPU.

**Stays silent** on

- a property whose body does not block;
- an object of unknown class;
- methods: a call shows that code runs, and the check reports the blocking line in the method itself;
- a property that calls a method of several classes, unless each of them blocks;
- a ``functools.cached_property``, or a property with another decorator for a cache (``cached``), which blocks
  once for each object. The line is reported in its body, and counts as run in every step only if ``hot`` names the property.

**No rewrite.** Take the value from the host, which mostly knew the value before the GPU did. Or make the property
a method whose name says that the call blocks.
"""

import ast

from syncscan.rule import Example, Facts, Match, Rule


class HiddenSync(Rule):
    code = "SYN501"
    name = "hidden-sync"
    summary = "a property is read whose body blocks the CPU"
    instead = "use a copy of the value on the host, or turn the property into a method whose name says that the call blocks"
    nodes = (ast.Attribute,)
    examples = (
        Example(
            bad="""\
import torch


class Metadata:
    def __init__(self) -> None:
        self.seq_lens = torch.zeros(8, device="cuda")

    @property
    def seq_lens_cpu(self) -> torch.Tensor:
        return self.seq_lens.cpu()  # expect: SYN105


def longest(metadata: Metadata) -> torch.Tensor:
    return metadata.seq_lens_cpu.max()  # expect: SYN501
"""
        ),
        Example(
            good="""\
import torch


class Metadata:
    def __init__(self) -> None:
        self.seq_lens_cpu = torch.zeros(8)

    @property
    def longest(self) -> torch.Tensor:
        return self.seq_lens_cpu.max()


def doubled(metadata: Metadata) -> torch.Tensor:
    return metadata.longest * 2
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        wait = facts.wait_inside(node)
        if wait is None or not isinstance(node, ast.Attribute):
            return None
        where = f" ({wait.evidence.path}:{wait.evidence.line})" if wait.evidence is not None else ""
        message = f"Reading the property `{node.attr}` blocks the CPU: its body synchronizes{where}"
        return Match(node, message, wait)
