"""A function that is to be free of synchronization reaches a call that may synchronize.

A comment makes a function a contract, and so does a name in the settings:

    # syncscan: sync-free
    def decode_step(batch: Batch) -> Tensors: ...

    [tool.syncscan]
    sync-free = ["engine.runner:Runner.decode_step"]

`syncscan check` then reports every obstacle that `syncscan prove` names for the function. That is more than the other rules
report: an unknown value may be a tensor on the GPU, and an unresolved call may do anything.
Each finding names the fact that would exclude it: an annotation, an `assert x.is_cpu`, or a declaration.

`# syncscan: ignore[SYN701] reason` allows one of them.
"""

import ast

from syncscan.model import SYNC_FREE
from syncscan.rule import Facts, Match, Rule


class SyncFree(Rule):
    code = SYNC_FREE
    name = "sync-free"
    summary = "a call, reachable from a function that is to be sync-free, that may synchronize"
    instead = "exclude the obstacle by an annotation or an assertion, or allow the call with a reason"
    nodes = ()
    examples = ()

    def match(self, node: ast.AST, facts: Facts) -> Match | None:  # noqa: ARG002 (no node shows it)
        """Decide nothing: ``syncscan.check.prove`` follows the calls of a function."""
        return None
