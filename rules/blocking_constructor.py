"""A tensor made from Python or NumPy data straight on the GPU is copied there, and the host waits.

`torch.tensor(data, device="cuda")`, `torch.as_tensor` and `x.new_tensor(data)` build the tensor in ordinary
memory and copy it with a wait for the stream, even for a single number.

**Stays silent** on `torch.full`, `zeros`, `ones` and `arange`, which are launched on the GPU without a copy;
where the tensor stays in host memory; where the data is a GPU tensor; and where it is an empty list.

**Fix.** A number written out becomes `torch.full((), number, device=...)`: same value, same dtype, no copy. That
is safe for a number without a dtype (a float up to 65504), for an integer from 0 to 127 with any dtype, and for
what a dtype that is written out holds (`-1` of `torch.int32`, `0.5` of `torch.float32`). It is unsafe for a float from 0 to 127 with another dtype:
`torch.tensor` refuses `0.5` of `torch.uint64`, `torch.full` does not. Numbers beyond that are infinite in one and an error in the other. `[number] * n` becomes `torch.full((n,), number)` where `n` is a number written out, or a
`len()` and the dtype is given: of an empty list `torch.tensor` cannot tell the dtype.

Lists and other numbers are made in pinned memory and copied without blocking. torch keeps the pinned memory until the
copy is done, so the temporary needs no care. Where the device may be the CPU, the fix asks `torch.cuda.is_available()`,
since pinning needs CUDA. `torch.tensor` pins no array: an array gets `.pin_memory()`, and only where the
device is surely a GPU. That is unsafe because a synchronization disappears on which a reader in another stream may have relied.
"""

import libcst as cst

from syncscan.model import Applicability, Kind
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._numbers import fills_alike, fills_exactly
from ._pinned import cuda_is_there, is_plain_data, is_surely_gpu
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
from ._suggestions import suggest

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


def upload(ids: np.ndarray) -> torch.Tensor:
    return torch.tensor(ids, device="cuda")  # expect: SYN301


def starts(ids: list[int], where: torch.device) -> torch.Tensor:
    return torch.tensor(ids, device=where)  # expect: SYN301


upload(np.arange(8))
starts([3, 1, 2], torch.device("cuda"))
""",
            fixed="""\
import numpy as np
import torch


def upload(ids: np.ndarray) -> torch.Tensor:
    return torch.tensor(ids, device="cpu").pin_memory().to("cuda", non_blocking=True)


def starts(ids: list[int], where: torch.device) -> torch.Tensor:
    return torch.tensor(ids, device="cpu", pin_memory=torch.cuda.is_available()).to(where, non_blocking=True)


upload(np.arange(8))
starts([3, 1, 2], torch.device("cuda"))
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
        return Match(call, message, facts.of(call), _hint(call, data, facts), _rewrite(call, data, facts))


def _hint(call: cst.Call, data: cst.BaseExpression, facts: Facts) -> str:
    device = facts.argument(call, "device")
    if (
        device is None
        or facts.of(data).kind is not Kind.NDARRAY
        or not isinstance(data, (cst.Name, cst.Attribute))
    ):
        return ""
    return suggest("array", array=facts.source(data), device=facts.source(device))


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
    if fills_alike(data, call, facts):
        return Rewrite(
            call, full, suggest("make-on-gpu"), certain(fills_exactly(data, call, facts), facts.of(data))
        )
    if "requires_grad" in keywords:
        return None
    repeated = _repeated(data, call, facts)
    if repeated is not None:
        return Rewrite(call, _filled(full, *repeated), suggest("make-on-gpu"), Applicability.UNSAFE)
    upload = _pinned_upload(call, data, device, facts)
    return Rewrite(call, upload, suggest("upload"), Applicability.UNSAFE) if upload is not None else None


def _repeated(
    data: cst.BaseExpression, call: cst.Call, facts: Facts
) -> tuple[cst.Tuple, cst.BaseExpression] | None:
    """The shape and the number of ``[v]`` and ``[v] * n``, where `torch.full` takes both and gives the same dtype.

    Of no element at all `torch.tensor` cannot tell the dtype, and a list is repeated by a negative number, too.
    """
    item: cst.BaseExpression = data
    count: cst.BaseExpression = cst.Integer("1")
    if isinstance(data, cst.BinaryOperation) and isinstance(data.operator, cst.Multiply):
        item, count = data.left, data.right
        if not _is_count(count, facts) or (_may_be_none(count) and facts.argument(call, "dtype") is None):
            return None
    if not isinstance(item, cst.List) or len(item.elements) != 1:
        return None
    number = item.elements[0].value
    shape = cst.Tuple([cst.Element(count, comma=cst.Comma())])
    return (shape, number) if fills_alike(number, call, facts) else None


def _is_count(times: cst.BaseExpression, facts: Facts) -> bool:
    """Whether a number is never negative: one written out, or a length."""
    return isinstance(times, cst.Integer) or (
        isinstance(times, cst.Call) and facts.name_of(times.func) == "builtins.len"
    )


def _may_be_none(count: cst.BaseExpression) -> bool:
    return not isinstance(count, cst.Integer) or count.evaluated_value == 0


def _filled(full: cst.Call, shape: cst.Tuple, number: cst.BaseExpression) -> cst.Call:
    first, second, *rest = full.args
    return full.with_changes(args=(first.with_changes(value=shape), second.with_changes(value=number), *rest))


def _pinned_upload(
    call: cst.Call, data: cst.BaseExpression, device: cst.BaseExpression, facts: Facts
) -> cst.Call | None:
    """Made in pinned memory and copied; an array is made a tensor first, and pinned where CUDA is surely there."""
    has_cuda = is_surely_gpu(device, facts)
    on_host = set_argument(bare(call), "device", cst.SimpleString('"cpu"'))
    if is_plain_data(facts.of(data)):
        flag = TRUE if has_cuda else cuda_is_there(call)
        pinned = set_argument(on_host, "pin_memory", flag) if flag is not None else None
    else:
        pinned = method_call(on_host, "pin_memory") if has_cuda else None
    if pinned is None:
        return None
    return set_argument(method_call(pinned, "to", cst.Arg(device)), "non_blocking", TRUE)
