"""A copy from the host to the GPU without `non_blocking=True` waits for the copy and all queued before it.

`.cuda()`, `.to(gpu)`, `.to(gpu_tensor)` and `gpu_buffer.copy_(cpu_tensor)` do. From pinned memory the
wait is pure loss; from pageable memory `non_blocking=True` alone does not remove it (SYN303).

**Stays silent** with `non_blocking=True` from pinned memory, on a tensor that is on the GPU already, and
on a change of dtype.

**Fix.** What a factory makes is made on the GPU: `torch.zeros(n).cuda()` becomes
`torch.zeros(n, device="cuda")`, and `torch.tensor(0).cuda()` becomes `torch.full((), 0, device="cuda")`. That is
safe, except for `arange` and `linspace`, whose fractions may be rounded differently there, and for `full` of
what is no number written out, or one that its dtype may not hold (SYN301). A copy from pinned memory gets `non_blocking=True`; one from pageable memory gets `.pin_memory()` besides. Both are
unsafe: the host may now write the pinned memory before it has been copied, pinning needs CUDA, and a
reader in another stream may have relied on the wait.
"""

import libcst as cst

from syncscan.model import Applicability
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._numbers import fills_dtype, fills_exactly
from ._shared import (
    CONSTRUCTORS,
    TRUE,
    blocking_call,
    certain,
    copied,
    decider,
    deciding,
    doubted,
    filled,
    is_device,
    is_true,
    pinned,
    plain_name,
    set_argument,
    shown,
    unpacks,
)

_ROUNDED = {"torch.arange", "torch.linspace"}  # fractions may differ in the last bit between CPU and GPU
_FACTORIES = _ROUNDED | {"torch.zeros", "torch.ones", "torch.empty", "torch.full", "torch.eye"}
_NUMBERS = {"torch.tensor": "data", "torch.full": "fill_value"}  # the parameters that say what to fill with
_COPYING = {"to", "cuda", "copy_", "type_as"}
_HOST = {"on host", "memory pageable", "memory pinned"}
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "requires_grad"}


class BlockingUpload(Rule):
    code = "SYN302"
    name = "blocking-upload"
    summary = "a copy to the GPU without `non_blocking=True`"
    instead = "copy from pinned memory with `non_blocking=True`"
    nodes = (cst.Call,)
    examples = (
        Example(
            bad="""\
import torch

pinned = torch.zeros(8, pin_memory=True)
rows = pinned.to("cuda")  # expect: SYN302
more = pinned.cuda()  # expect: SYN302
rows.copy_(pinned)  # expect: SYN302
""",
            fixed="""\
import torch

pinned = torch.zeros(8, pin_memory=True)
rows = pinned.to("cuda", non_blocking=True)
more = pinned.cuda(non_blocking=True)
rows.copy_(pinned, non_blocking=True)
""",
        ),
        Example(
            bad="""\
import numpy as np
import torch

starts = torch.from_numpy(np.arange(8)).to("cuda")  # expect: SYN302
total = torch.tensor(0, dtype=torch.int32).cuda()  # expect: SYN302
rows = torch.zeros((8, 4)).to("cuda")  # expect: SYN302
order = torch.arange(8).to(rows.device)  # expect: SYN302
""",
            fixed="""\
import numpy as np
import torch

starts = torch.from_numpy(np.arange(8)).pin_memory().to("cuda", non_blocking=True)
total = torch.full((), 0, dtype=torch.int32, device="cuda")
rows = torch.zeros((8, 4), device="cuda")
order = torch.arange(8, device=rows.device)
""",
        ),
        Example(
            bad="""\
import torch

weight = torch.zeros(8, device="cuda")
bias = torch.zeros(8)
moved = bias.to(weight.device)  # expect: SYN302
""",
            fixed="""\
import torch

weight = torch.zeros(8, device="cuda")
bias = torch.zeros(8)
moved = bias.pin_memory().to(weight.device, non_blocking=True)
""",
        ),
        Example(
            good="""\
import torch

pinned = torch.zeros(8, pin_memory=True)
rows = pinned.to("cuda", non_blocking=True)
rows.copy_(pinned, non_blocking=True)
half = rows.to(torch.float16)
same = rows.cuda()
host = pinned.to(torch.float16)
"""
        ),
    )

    def match(self, node: cst.CSTNode, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.UPLOAD)
        if call is None or plain_name(call, facts) in CONSTRUCTORS:
            return None
        if is_true(facts.argument(call, "non_blocking")):
            return None
        source = copied(call, facts)
        if plain_name(call, facts) not in _COPYING:
            source = decider(call, facts, _HOST) or source
        message = f"{shown(source or call, facts)} is copied to the GPU, and the host waits for the copy"
        values = facts.of(call), facts.of(source or call)
        because = doubted(*values) if plain_name(call, facts) in _COPYING else deciding(*reversed(values))
        rewrite = _rewrite(call, source, facts) if source else None
        return Match(call, message, because, _hint(call, source, facts), rewrite)


def _hint(call: cst.Call, source: cst.BaseExpression | None, facts: Facts) -> str:
    if facts.name_of(call.func) == "torch.load":
        return "load it before the steps begin; the host reads the file in any case"
    if plain_name(call, facts) in _COPYING or source is None:
        return ""
    if isinstance(source, cst.Call) and facts.name_of(source.func) == "torch.tensor":
        return "write the number itself in its place, or make the tensor on the GPU with `device=`"
    return "make it on the GPU, with `device=` where it is made"


def _rewrite(call: cst.Call, source: cst.BaseExpression, facts: Facts) -> Rewrite | None:
    name = plain_name(call, facts)
    if (
        name not in {"to", "cuda", "copy_"}
        or unpacks(call)
        or facts.argument(call, "non_blocking") is not None
    ):
        return None
    if name != "copy_":
        made = _made_there(call, source, facts)
        if made is not None:
            return made
    is_pinned = facts.of(source).pinned
    if is_pinned is None:
        return None
    start = call if is_pinned else _pin(call, source, facts)
    fixed = set_argument(start, "non_blocking", TRUE)
    return Rewrite(call, fixed, "copy from pinned memory without blocking", Applicability.UNSAFE)


def _pin(call: cst.Call, source: cst.BaseExpression, facts: Facts) -> cst.Call:
    return cst.ensure_type(call.deep_replace(source, pinned(source, facts)), cst.Call)


def _made_there(call: cst.Call, source: cst.BaseExpression, facts: Facts) -> Rewrite | None:
    """`torch.zeros(n).cuda()`, `torch.tensor(0).cuda()`: to be made on the GPU in the first place."""
    if not isinstance(source, cst.Call) or unpacks(source):
        return None
    device = _only_device(call, facts)
    keywords = {argument.keyword.value for argument in source.args if argument.keyword is not None}
    if device is None or keywords & _DECIDES_THE_PLACE:
        return None
    exact = _is_exact(source, facts)
    name = facts.name_of(source.func)
    made = source if name in _FACTORIES else filled(source) if name == "torch.tensor" and exact else None
    if made is None:
        return None
    applicability = certain(exact, *(facts.of(argument.value) for argument in call.args))
    return Rewrite(call, set_argument(made, "device", device), "make it on the GPU", applicability)


def _is_exact(source: cst.Call, facts: Facts) -> bool:
    """Whether the elements are the same when they are made on the GPU."""
    name = facts.name_of(source.func)
    if (
        name == "torch.eye"
    ):  # only the GPU makes those of uint16, uint32, uint64 and complex32 (torch 2.11, H200)
        return facts.argument(source, "dtype") is None
    if name not in _NUMBERS:
        return name not in _ROUNDED and fills_dtype(source, facts)
    number = facts.argument(source, _NUMBERS[name])
    return number is not None and fills_exactly(number, source, facts)


def _only_device(call: cst.Call, facts: Facts) -> cst.BaseExpression | None:
    """The device to which the call moves, where it does nothing else."""
    if not call.args:
        return cst.SimpleString('"cuda"') if plain_name(call, facts) == "cuda" else None
    device = facts.argument(call, "device")
    if device is None or len(call.args) != 1 or plain_name(call, facts) == "cuda":
        return None
    return device if is_device(facts.of(device)) else None
