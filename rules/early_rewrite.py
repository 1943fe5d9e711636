"""A pinned buffer is written again before the GPU has read the buffer: the GPU may get the new data, or parts of both.

From pinned memory a `non_blocking` upload returns at once, and the GPU reads the buffer when the copy starts. A host that
writes the buffer meanwhile overtakes the copy. With a buffer that is used again in each iteration of a loop, the GPU gets the data of a later iteration.

**Stays silent** if anything between the upload and the write may synchronize: any call that is not known not to. The rule is silent too on

- another part of the buffer, or a part that cannot be told;
- memory that is not known to be pinned, which is copied before the call returns;
- writes of other functions to the buffer.

**No rewrite.** Take a buffer for each upload: `pin_memory()` of new data is reused only when the GPU has read it. Or take two in
turn with an event for each, and synchronize the event of a buffer before the buffer is written.
"""

from __future__ import annotations

import ast

from syncscan.model import Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import copied, doubted, shown
from ._under_way import Touch, distance, first_touch


class EarlyRewrite(Rule):
    code = "SYN602"
    name = "early-rewrite"
    summary = "a pinned buffer is written while its upload may be under way"
    instead = "use one buffer for each upload, or synchronize an event of the upload before the write"
    nodes = (ast.Call,)
    is_wait = False
    examples = (
        Example(
            bad="""\
import torch

staging = torch.zeros(8, dtype=torch.int32, pin_memory=True)
starts = staging.to("cuda", non_blocking=True)  # expect: SYN602
staging[:4] = 1
ends = torch.empty(8, dtype=torch.int32, device="cuda")
ends.copy_(staging, non_blocking=True)  # expect: SYN602
staging.fill_(2)
"""
        ),
        Example(
            bad="""\
import torch

rows = [torch.ones(8), torch.zeros(8)]
staging = torch.empty(8, pin_memory=True)
sums = []
for row in rows:
    staging.copy_(row)
    sums.append(staging.to("cuda", non_blocking=True))  # expect: SYN602
"""
        ),
        Example(
            good="""\
import torch

staging = torch.zeros(8, pin_memory=True)
sent = torch.cuda.Event()
starts = staging[:4].to("cuda", non_blocking=True)
staging[4:] = 1
ends = staging[4:].to("cuda", non_blocking=True)
sent.record()
while not sent.query():
    pass
staging.zero_()
"""
        ),
        Example(
            good="""\
import torch

for _ in range(3):
    staging = torch.zeros(8, pin_memory=True)
    staging[0] = 1
    starts = staging.to("cuda", non_blocking=True)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        case = facts.queued(node)
        if not isinstance(node, ast.Call) or case is None or case.effect is not Effect.UPLOAD:
            return None
        source = copied(node, facts)
        if source is None or not _is_pinned(facts.of(source)):
            return None
        buffer, part = _buffer(source)
        if buffer is None:
            return None
        line = first_touch(node, facts, _writes_to(facts.source(buffer), part), facts.source(buffer))
        if line is None:
            return None
        message = f"{shown(buffer, facts)} is written {distance(line, node, facts)} while its upload may be under way: the GPU may read the new data"
        return Match(node, message, because=doubted(facts.of(node), facts.of(source)))


def _is_pinned(value: Value) -> bool:
    return bool(value.options) and all(option.pinned for option in value.options)


def _buffer(source: ast.expr) -> tuple[ast.expr | None, ast.Subscript | None]:
    """Return the name of the copied memory, and the copied part."""
    part = source if isinstance(source, ast.Subscript) else None
    buffer = part.value if part is not None else source
    return (buffer if isinstance(buffer, (ast.Name, ast.Attribute)) else None), part


def _writes_to(buffer: str, part: ast.Subscript | None) -> Touch:
    """Return a test whether a node surely writes to copied elements."""

    def writes(node: ast.AST, there: Facts) -> bool:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return any(isinstance(each, ast.Subscript) and is_it(each, there) for each in targets)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        in_place = node.func.attr.endswith("_") and there.name_of(node.func).startswith("torch.Tensor.")
        return in_place and is_it(node.func.value, there)

    def is_it(written: ast.expr, there: Facts) -> bool:
        whole, other = _buffer(written)
        if whole is None or there.source(whole) != buffer:
            return False
        return _overlap(part, other)

    return writes


def _overlap(one: ast.Subscript | None, other: ast.Subscript | None) -> bool:
    """Return whether two parts of a buffer surely share elements."""
    if one is None or other is None:
        return True
    return _starts_at_the_start(one) and _starts_at_the_start(other)


def _starts_at_the_start(part: ast.Subscript) -> bool:
    """Return whether a part is ``x[:n]``, which has the first element unless empty."""
    return isinstance(part.slice, ast.Slice) and part.slice.lower is None
