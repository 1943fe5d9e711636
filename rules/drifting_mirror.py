"""A host array that repeats a GPU tensor is only ever advanced, and never refreshed from its source of truth.

To spare a download, runtimes keep a mirror of lengths and counts on the host. In each step they add the number of queued tokens. Rejected
draft tokens and preempted requests change the tensor on the GPU and not the mirror. So the mirror grows too large with each such step,
without end: sizes are too large, and branches are taken too early. A request state of vLLM did so (#42202).

**Stays silent** if

- anything but `+=` writes to an attribute of that name: a store, a method, a call with the array as an argument. Functions that make a
  place or give it up do not count (`__init__`, `add_request`, `reset`);
- the same function advances the GPU tensor too;
- the object has no GPU tensor of the name without `_np`, `_cpu` or `_host`.

**No rewrite.** Overwrite the mirror in each step with the counts of the scheduler, which alone knows: see `syncscan recipe show RequestStates`.
"""

import ast

from syncscan.rule import Example, Facts, Match, Rule

from ._shared import shown


class DriftingMirror(Rule):
    code = "SYN603"
    name = "drifting-mirror"
    summary = "a host mirror of a GPU tensor is only ever advanced"
    instead = (
        "overwrite the mirror in each step from the source of truth, such as the counts of the scheduler"
    )
    nodes = (ast.AugAssign,)
    is_wait = False
    examples = (
        Example(
            bad="""\
import numpy as np
import torch


class States:
    def __init__(self, rows: int) -> None:
        self.computed = torch.zeros(rows, dtype=torch.int32, device="cuda")
        self.computed_np = np.zeros(rows, dtype=np.int32)

    def add_request(self, row: int, computed: int) -> None:
        self.computed_np[row] = computed

    def postprocess(self, rows: np.ndarray, scheduled: np.ndarray) -> None:
        self.computed_np[rows] += scheduled  # expect: SYN603
"""
        ),
        Example(
            good="""\
import numpy as np
import torch


class States:
    def __init__(self, rows: int) -> None:
        self.computed = torch.zeros(rows, dtype=torch.int32, device="cuda")
        self.computed_np = np.zeros(rows, dtype=np.int32)
        self.rounds_np = np.zeros(rows, dtype=np.int32)

    def update_requests(self, rows: np.ndarray, computed: np.ndarray) -> None:
        self.computed_np[rows] = computed

    def postprocess(self, rows: np.ndarray, scheduled: np.ndarray) -> None:
        self.computed_np[rows] += scheduled
        self.rounds_np[rows] += 1
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if not isinstance(node, ast.AugAssign):
            return None
        array = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        source = facts.drifts_from(array)
        if source is None:
            return None
        message = f"{shown(array, facts)} is only ever advanced and drifts from the GPU: nothing refreshes the mirror"
        return Match(node, message, because=source)
