"""`non_blocking=True` from pageable memory does not make a copy asynchronous: the copy synchronizes the stream.

The driver can copy in the background from pinned memory only. From pageable memory the driver stages small
copies, and synchronizes for larger copies. On an H200 copies of up to 1 MiB returned at once, and copies of up to 2 MiB
if no other copy was staged. NVIDIA promises 64 KiB. `torch.cuda.set_sync_debug_mode` does not report
these synchronizations. The static check knows few sizes, so the rule reports copies that may be small: they block on the day
on which the batch grows.

**Stays silent** on

- a few elements whose number the source shows;
- memory that is pinned, or may be;
- `.pin_memory()` before the copy.

Views keep pinning; `torch.from_numpy`, `torch.cat` and arithmetic lose pinning.

**Fix**: pin the source, if pinning can raise no error that the copy did not raise. A tensor created on the spot gets `pin_memory=True`.
If the device may be the CPU, the tensor gets `pin_memory=x.is_cuda` for the device of a tensor `x`, else `pin_memory=torch.cuda.is_available()`.
The fix adds `.pin_memory()` to dense tensors if the source names a GPU: an expanded tensor cannot be pinned. torch keeps a pinned
temporary until the copy has finished. The fix is unsafe, because pinning copies on the host, which costs time for a large source.
"""

import ast

from syncscan.model import Applicability
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._pinned import with_pinned_source
from ._shared import (
    blocking_call,
    copied,
    deciding,
    is_true,
    shown,
)
from ._suggestions import suggest

_COPIES = {"to", "cuda", "copy_"}


class UnpinnedUpload(Rule):
    code = "SYN303"
    name = "unpinned-upload"
    summary = "`non_blocking=True` from pageable memory"
    instead = "create the source with `pin_memory=True`, or call `.pin_memory()`"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import numpy as np
import torch

ids = np.zeros(1_000_000, dtype=np.int64)
rows = torch.from_numpy(ids).clone().to("cuda", non_blocking=True)  # expect: SYN303
more = torch.tensor(ids.tolist()).to("cuda", non_blocking=True)  # expect: SYN303
""",
            fixed="""\
import numpy as np
import torch

ids = np.zeros(1_000_000, dtype=np.int64)
rows = torch.from_numpy(ids).clone().pin_memory().to("cuda", non_blocking=True)
more = torch.tensor(ids.tolist(), device="cpu", pin_memory=True).to("cuda", non_blocking=True)
""",
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((1024, 1024), device="cuda")
source = torch.ones((1024, 1024))
table.copy_(source, non_blocking=True)  # expect: SYN303
"""
        ),
        Example(
            good="""\
import torch

pinned = torch.zeros((1024, 1024), pin_memory=True)
rows = pinned.to("cuda", non_blocking=True)
head = pinned[:512].to("cuda", non_blocking=True)
more = torch.ones((1024, 1024)).pin_memory().to("cuda", non_blocking=True)
rows.copy_(pinned, non_blocking=True)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.UPLOAD, _COPIES)
        if call is None or not is_true(facts.argument(call, "non_blocking")):
            return None
        source = copied(call, facts)
        message = (
            f"Copying {shown(source or call, facts)} from pageable memory synchronizes the stream above 1 MiB, "
            "despite `non_blocking=True`"
        )
        because = deciding(facts.of(source or call), facts.of(call))
        return Match(call, message, because, rewrite=_rewrite(call, source, facts) if source else None)


def _rewrite(call: ast.Call, source: ast.expr, facts: Facts) -> Rewrite | None:
    """Pin the source."""
    fixed = with_pinned_source(call, source, facts)
    return Rewrite(call, fixed.text(), suggest("pin"), Applicability.UNSAFE) if fixed is not None else None
