"""A copy from the GPU to the host blocks the CPU until the copy, and all work queued before, is done.

`.cpu()`, `.to("cpu")`, `.to(cpu_tensor)` and `copy_` into host memory do. So do the store of a GPU tensor in a CPU
tensor, `torch.save` and `pickle`. They block even if nobody reads the result soon.

**Stays silent** on

- `.to("cpu", non_blocking=True)`, and `copy_` with `non_blocking=True` into pinned memory, which were measured not to block;
- `.numpy()` and `np.asarray(t)`, which raise an error on a GPU tensor;
- tensors that are in host memory already.

`SummaryWriter.add_scalar` and `wandb.log` copy what they record in the call, too.

**No rewrite**: without blocking, the host may read the memory before the data is there. The sure form is
`buffer.copy_(t, non_blocking=True)` into a pinned buffer, `event.record()`, and `event.synchronize()` just
before the read, by which time the copy is usually done.
"""

import ast
from collections.abc import Iterator, Sequence

from syncscan.model import Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Precedence, Rule
from syncscan.syntax.stores import stores_in

from ._instead import of_a_store, of_many
from ._shared import (
    PYTHON,
    anchor_of_store,
    blocking_call,
    doubted,
    given,
    gpu_operand,
    is_device,
    is_true,
    shown,
    stored_value,
)
from ._suggestions import suggest

_METRICS = ("torch.utils.tensorboard.", "tensorboardX.", "wandb.")
_OF_NUMBERS = (".add_scalar", ".add_scalars", ".log")


class CopyToHost(Rule):
    code = "SYN105"
    name = "copy-to-host"
    summary = "a blocking copy from the GPU to the host"
    instead = "copy into pinned memory with `non_blocking=True`, record an event, and synchronize the event before the read"
    nodes = (ast.Call, ast.Assign, ast.For)
    precedence = Precedence.FAMILY
    examples = (
        Example(
            bad="""\
import torch

lens = torch.zeros(8, device="cuda")
host = lens.cpu()  # expect: SYN105
again = lens.to("cpu")  # expect: SYN105
array = lens.cpu().numpy()  # expect: SYN105
"""
        ),
        Example(
            bad="""\
import torch

lens = torch.zeros(8, device="cuda")
buffer = torch.zeros(8, pin_memory=True)
buffer.copy_(lens)  # expect: SYN105
buffer[:4] = lens[:4]  # expect: SYN105
"""
        ),
        Example(
            bad="""\
import torch


class Metadata:
    def __init__(self) -> None:
        self.seq_lens = torch.zeros(8, device="cuda")

    @property
    def seq_lens_cpu(self) -> torch.Tensor:
        return self.seq_lens.to(device="cpu", dtype=torch.int32)  # expect: SYN105


longest = Metadata().seq_lens_cpu.max()  # expect: SYN501
"""
        ),
        Example(
            good="""\
import torch

lens = torch.zeros(8, device="cuda")
buffer = torch.zeros(8, pin_memory=True)
buffer.copy_(lens, non_blocking=True)
host = lens.to("cpu", non_blocking=True)
half = lens.to(torch.float16)
same = lens.to("cuda")
"""
        ),
        Example(
            good="""\
import numpy as np
import torch

lens = torch.zeros(8)
array = np.asarray(lens.cpu())
array = lens.numpy()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | Sequence[Match] | None:
        if not isinstance(node, ast.Call):
            return [*_stores(node, facts)]
        call = blocking_call(node, facts, Effect.DOWNLOAD)
        if call is None or facts.name_of(call.func).startswith(PYTHON):
            return None
        if is_true(facts.argument(call, "non_blocking")):
            return None
        message = (
            f"{shown(call, facts)} copies from the GPU to the host and blocks the CPU until the copy is done"
        )
        return Match(call, message, _copied(call, facts), _hint(call, facts))


def _copied(call: ast.Call, facts: Facts) -> Value | None:
    """Return the GPU operand of a copy, no surer than the device that the call names: ``device="cpu"`` may be a default."""
    value = gpu_operand(call, facts)
    devices = [each for each in map(facts.of, given(call)) if is_device(each)]
    return doubted(value, *devices) if value is not None and devices else value


def _hint(call: ast.Call, facts: Facts) -> str:
    name = facts.name_of(call.func)
    if name.startswith("pickle."):
        return suggest("pickle")
    if name.startswith(_METRICS) and name.endswith(_OF_NUMBERS):
        return suggest("metrics")
    return of_many(call, facts.argument(call, "input"), facts)


def _stores(node: ast.AST, facts: Facts) -> Iterator[Match]:
    for place, written in stores_in(node):
        case = facts.blocks(place)
        if case is None or case.effect is not Effect.DOWNLOAD:
            continue
        what = "a tensor" if written is None else shown(written, facts)
        message = f"Storing {what} in host memory copies a CUDA tensor and blocks the CPU"
        anchor = anchor_of_store(place, node)
        hint = of_a_store(anchor, place.value, facts) if isinstance(anchor, ast.Assign) else ""
        yield Match(anchor, message, stored_value(place, written, facts), hint)
