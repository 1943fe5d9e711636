"""A tensor made from Python or NumPy data straight on the GPU is copied there, and the host waits.

`torch.tensor(data, device="cuda")`, `torch.as_tensor` and `x.new_tensor(data)` build the tensor in ordinary
memory and copy it with a wait for the stream, even for a single number.

**Stays silent** on `torch.full`, `zeros`, `ones` and `arange`, which are launched on the GPU without a copy;
where the tensor stays in host memory; where the data is a GPU tensor; and where it is an empty list.

**Fix.** A number written out becomes `torch.full((), number, device=...)`: same value, same dtype, no copy. That
is safe for a number without a dtype (a float up to 65504), for an integer from 0 to 127 with any dtype, and for
what a dtype that is written out holds (`-1` of `torch.int32`, `0.5` of `torch.float32`). Else it is unsafe:
`torch.tensor` refuses `-1` and `0.5` of `torch.uint64`, `torch.full` does not, and a number too large becomes
infinite in one and is an error in the other. A variable that holds a number becomes `torch.full` too; unsafe, since
a NumPy number has a dtype of its own. Other data becomes a pinned tensor that is copied without blocking. torch
keeps the pinned memory until the copy is done, so the temporary needs no care. That is unsafe because pinning
needs CUDA, which breaks a program that falls back to the CPU, and because a wait disappears on which a reader in
another stream may have relied.
"""

import libcst as cst

from syncscan.model import Applicability, Kind
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._numbers import fills_exactly
from ._shared import (
    CONSTRUCTORS,
    TRUE,
    bare,
    blocking_call,
    certain,
    filled,
    method_call,
    set_argument,
    shown,
    unpacks,
)

_KEPT_BY_FULL = {"dtype", "device", "requires_grad"}


class BlockingConstructor(Rule):
    code = "SYN301"
    name = "blocking-constructor"
    summary = "a tensor is built from host data straight on the GPU"
    instead = "`torch.full` for a number; else a pinned tensor and `.to(device, non_blocking=True)`"
    nodes = (cst.Call,)
    examples = (
        Example(
            bad="""\
import torch

scale = torch.tensor(1.0, device="cuda")  # expect: SYN301
none = torch.tensor(-1, dtype=torch.int32, device="cuda:0")  # expect: SYN301
least = torch.tensor(-float("inf"), device="cuda")  # expect: SYN301
""",
            fixed="""\
import torch

scale = torch.full((), 1.0, device="cuda")
none = torch.full((), -1, dtype=torch.int32, device="cuda:0")
least = torch.full((), -float("inf"), device="cuda")
""",
        ),
        Example(
            bad="""\
import torch

lens = [3, 1, 2]
starts = torch.tensor(lens, dtype=torch.int32, device="cuda")  # expect: SYN301
ends = torch.tensor(  # expect: SYN301
    [n + 1 for n in lens],
    device="cuda",
)
""",
            fixed="""\
import torch

lens = [3, 1, 2]
starts = torch.tensor(lens, dtype=torch.int32, device="cpu", pin_memory=True).to("cuda", non_blocking=True)
ends = torch.tensor(
    [n + 1 for n in lens],
    device="cpu",
    pin_memory=True,
).to("cuda", non_blocking=True)
""",
        ),
        Example(
            bad="""\
import numpy as np
import torch

weights = torch.as_tensor(np.ones(8), device="cuda")  # expect: SYN301
more = weights.new_tensor([1.0, 2.0])  # expect: SYN301
"""
        ),
        Example(
            good="""\
import torch

lens = [3, 1, 2]
scale = torch.full((), 1.0, device="cuda")
zero = torch.zeros((), device="cuda")
order = torch.arange(8, device="cuda")
host = torch.tensor(lens)
pinned = torch.tensor(lens, pin_memory=True)
starts = pinned.to("cuda", non_blocking=True)
same = torch.as_tensor(order, device="cuda")
"""
        ),
    )

    def match(self, node: cst.CSTNode, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.UPLOAD, CONSTRUCTORS)
        data = facts.argument(call, "data") if call is not None else None
        if call is None or data is None or facts.of(data).is_gpu or _is_empty(data):
            return None
        message = f"{shown(data, facts)} is copied from ordinary memory to the GPU, and the host waits for the stream"
        return Match(call, message, because=facts.of(call), rewrite=_rewrite(call, data, facts))


def _is_empty(data: cst.BaseExpression) -> bool:
    """A list or tuple written out without an element: there is nothing to copy."""
    return isinstance(data, (cst.List, cst.Tuple)) and not data.elements


def _rewrite(call: cst.Call, data: cst.BaseExpression, facts: Facts) -> Rewrite | None:
    full = filled(call)
    if facts.name_of(call.func) != "torch.tensor" or full is None:
        return None
    device = facts.argument(call, "device")
    keywords = {argument.keyword.value for argument in call.args if argument.keyword is not None}
    if device is None or unpacks(call) or not keywords <= _KEPT_BY_FULL:
        return None
    if facts.of(data).kind is Kind.NUMBER:
        return Rewrite(call, full, "fill on the GPU", certain(fills_exactly(data, call, facts)))
    repeated = _repeated(data, facts)
    if repeated is not None and "requires_grad" not in keywords:
        return Rewrite(call, _filled(full, *repeated), "fill on the GPU", Applicability.UNSAFE)
    if "requires_grad" in keywords or facts.of(data).kind is Kind.TENSOR:
        return None
    upload = _pinned_upload(call, device)
    return Rewrite(call, upload, "copy from pinned memory without blocking", Applicability.UNSAFE)


def _repeated(data: cst.BaseExpression, facts: Facts) -> tuple[cst.Tuple, cst.BaseExpression] | None:
    """The shape and the number of ``[v] * n`` and ``[[v]] * n``, and of ``[v]``."""
    if isinstance(data, cst.List) and len(data.elements) == 1:
        only = data.elements[0].value
        is_number = isinstance(only, (cst.Integer, cst.Float)) or facts.of(only).kind is Kind.NUMBER
        return (cst.Tuple([cst.Element(cst.Integer("1"))]), only) if is_number else None
    if not isinstance(data, cst.BinaryOperation) or not isinstance(data.operator, cst.Multiply):
        return None
    sizes, item = [data.right], data.left
    while isinstance(item, cst.List) and len(item.elements) == 1:
        item = item.elements[0].value
        sizes.append(cst.Integer("1"))
    if (
        len(sizes) < 2
        or facts.of(item).kind is not Kind.NUMBER
        or facts.of(data.right).kind is not Kind.NUMBER
    ):
        return None
    del sizes[1]
    return cst.Tuple([cst.Element(size) for size in sizes]), item


def _filled(full: cst.Call, shape: cst.Tuple, number: cst.BaseExpression) -> cst.Call:
    first, second, *rest = full.args
    return full.with_changes(args=(first.with_changes(value=shape), second.with_changes(value=number), *rest))


def _pinned_upload(call: cst.Call, device: cst.BaseExpression) -> cst.Call:
    on_host = set_argument(bare(call), "device", cst.SimpleString('"cpu"'))
    pinned = set_argument(on_host, "pin_memory", TRUE)
    return set_argument(method_call(pinned, "to", cst.Arg(device)), "non_blocking", TRUE)
