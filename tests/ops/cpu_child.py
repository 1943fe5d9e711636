"""A measuring process without a GPU: the same code, with an oracle where the GPU's clock would be."""

from __future__ import annotations

import os
import sys

from syncscan.measure.run import serve
from syncscan.measure.watch import Seen


class Oracle:
    """Says that whatever reads data on the host waits; "crash" in the environment ends the process."""

    def __init__(self) -> None:
        self.reads = 0

    def settle(self) -> None:
        pass

    def blocking_calls(self) -> int:
        return self.reads

    def __call__(self, call, before):
        before()
        call()
        return Seen(False, 0.0, 0.1, {})


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.stdin, answers, Oracle(), "cpu")
