"""Which operations look, on a GPU, whether all their operands lie there, also one that is a single number.

torch generates that look (`torchgen.dest.register_dispatch_key`) from a file that it ships. Most operations
that go element by element do without, and take a number from the host.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import torch

_DECLARED = Path(torch.__file__).parents[1] / "torchgen/packaged/ATen/native/native_functions.yaml"
_HAS_KERNEL = re.compile(r"^ +(structured_delegate:|(\w+, )*CUDA[,:])", re.MULTILINE)
# Without a kernel of their own they are `cat`, which looks.
_ARE_CAT = frozenset({"stack", "_stack"})


@functools.lru_cache(maxsize=1)
def operations_that_check() -> frozenset[str]:
    """Their names, such as "gather" and "scatter.src"; none where torch does not say."""
    try:
        declared = _DECLARED.read_text(encoding="utf-8").split("\n- func: ")[1:]
    except OSError:
        return frozenset()
    return _ARE_CAT | {
        entry.partition("(")[0]
        for entry in declared
        if "device_check: NoCheck" not in entry and _HAS_KERNEL.search(entry)
    }
