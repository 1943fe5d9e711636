"""`copy_` with `non_blocking=True` into pageable host memory blocks the CPU until the copy is done.

The GPU can write to pinned memory only without the host's help. `set_sync_debug_mode` does not report this synchronization.

**Stays silent** on a pinned destination, and on `t.to("cpu", non_blocking=True)`, which does not block. Do not read its
result before an event says that the copy has arrived (SYN601).

**No rewrite**: pin the buffer where it is allocated, `torch.empty(..., pin_memory=True)`, and keep it.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import blocking_call, doubted, is_true, shown, subject


class UnpinnedDownload(Rule):
    code = "SYN304"
    name = "unpinned-download"
    summary = "`non_blocking=True` into pageable memory"
    instead = "allocate the destination once with `pin_memory=True`, and synchronize an event before the read"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

logits = torch.zeros((1024, 1024), device="cuda")
host = torch.empty((1024, 1024))
host.copy_(logits, non_blocking=True)  # expect: SYN304
"""
        ),
        Example(
            good="""\
import torch

logits = torch.zeros((1024, 1024), device="cuda")
host = torch.empty((1024, 1024), pin_memory=True)
host.copy_(logits, non_blocking=True)
later = logits.to("cpu", non_blocking=True)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.DOWNLOAD, {"copy_"})
        if call is None or not is_true(facts.argument(call, "non_blocking")):
            return None
        source = facts.argument(call, "src")
        if source is None:
            return None
        buffer = subject(call, facts)
        message = f"Copying into {shown(buffer, facts)} in pageable memory blocks the CPU, despite `non_blocking=True`"
        return Match(call, message, because=doubted(facts.of(source), facts.of(buffer)))
