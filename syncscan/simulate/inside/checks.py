"""The operations that check on a GPU that all operands are on one device, including single-number operands.

torch generates these checks (`torchgen.dest.register_dispatch_key`) from a file that torch ships. Most
elementwise operations omit the check, and accept a number from the host.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import torch

_DECLARED = Path(torch.__file__).parents[1] / "torchgen/packaged/ATen/native/native_functions.yaml"
_HAS_KERNEL = re.compile(r"^ +(structured_delegate:|(\w+, )*CUDA[,:])", re.MULTILINE)
# They have no kernel of their own, and call `cat`, which checks.
_ARE_CAT = frozenset({"stack", "_stack"})


@functools.lru_cache(maxsize=1)
def operations_that_check() -> frozenset[str]:
    """Return the names of these operations, such as "gather" and "scatter.src"; empty where torch ships no such file."""
    try:
        declared = _DECLARED.read_text(encoding="utf-8").split("\n- func: ")[1:]
    except OSError:
        return frozenset()
    return _ARE_CAT | {
        entry.partition("(")[0]
        for entry in declared
        if "device_check: NoCheck" not in entry and _HAS_KERNEL.search(entry)
    }
