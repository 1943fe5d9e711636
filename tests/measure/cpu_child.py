"""A measuring process without a GPU: the real one, with an oracle where the GPU's clock would be.

The oracle says that a call waited if it read a number of a tensor. With CHILD_DIES_AT=n in the environment
the process ends at its nth call.
"""

from __future__ import annotations

import os
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from syncscan.measure.run import serve
from syncscan.measure.watch import CallEffect


class Reads(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


class Oracle:
    def __init__(self) -> None:
        self.calls = 0

    def settle(self) -> None:
        pass

    def blocking_calls(self) -> int:
        return 0

    def __call__(self, call, before):
        self.calls += 1
        if self.calls == int(os.environ.get("CHILD_DIES_AT", "0")):
            os._exit(9)
        before()
        with Reads() as reads:
            call()
        return CallEffect(bool(reads.count), 10.0 * bool(reads.count), 0.1, {})


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.stdin, answers, Oracle(), "cpu")
