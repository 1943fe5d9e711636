"""A copy from the host to the GPU without `non_blocking=True` blocks the CPU until the copy is done.

`.cuda()`, `.to(gpu)`, `.to(gpu_tensor)` and `gpu_buffer.copy_(cpu_tensor)` do, and all work queued before comes first. From pinned
memory the synchronization is pure loss. From pageable memory `non_blocking=True` alone does not remove the synchronization (SYN303).

A module blocks once for each of its parameters and buffers: `model = Net().to("cuda")`. That is reported where a function makes the module,
calls one that returns a new module, or gets one that its caller has just made. Other modules may be on the GPU already. `load_state_dict` blocks for each
tensor as well, where the code has moved the module to the GPU, and the state is on the host.

**Stays silent** with `non_blocking=True` from pinned memory, on a tensor that is on the GPU already, and
on a change of dtype. Modules without parameters, such as `nn.ReLU()`, have nothing to copy.

**Fix.** A factory makes its tensor on the GPU: `torch.zeros(n).cuda()` becomes `torch.zeros(n, device="cuda")`, and
`torch.tensor(0).cuda()` becomes `torch.full((), 0, device="cuda")`. That is safe, except for `arange`. Sums, differences and
products of what factories make are made there too: `(1 - torch.eye(n)[None]).to(x)` becomes `(1 - torch.eye(n, device=x.device)[None]).to(x)`.
So are triangles: `torch.ones(n, n).tril().to(x.device)` becomes `torch.ones(n, n, device=x.device).tril()`. These are
unsafe, as is `full` of what is no number written out, or one that its dtype may not hold (SYN301). `linspace` and fractions of `arange`
may be rounded differently on the GPU, and random numbers are others: there is no rewrite of them.

A copy from pinned memory gets `non_blocking=True`. One from pageable memory gets `pin_memory=True` where its source is made on
the spot, and `.pin_memory()` where that can raise no error: on a dense tensor, and for a device written out as a GPU. Other sources get a suggestion:
without CUDA nothing is pinned, and neither are expanded tensors. These are unsafe: the host may now write the pinned memory before it has been copied, and a
reader in another stream may have relied on the synchronization.
"""

import ast
from dataclasses import replace
from typing import TypeGuard

from syncscan.model import Applicability, Confidence, Kind
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._code import CallCode, as_argument
from ._data import OF_DATA, data_behind, is_constant, of_data
from ._instead import of_an_upload
from ._kept_copies import of_a_part
from ._made_on import TRIANGLES, DeviceCode, is_alike, is_exact, made_on, tensor_of
from ._new_modules import is_still_new
from ._pinned import with_pinned_source
from ._shared import (
    CONSTRUCTORS,
    blocking_call,
    certain,
    copied,
    decider,
    deciding,
    doubted,
    given,
    is_device,
    is_true,
    keywords_of,
    plain_name,
    shown,
    unpacks,
)
from ._suggestions import suggest

_RANDOM = {
    f"torch.{name}" for name in ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial")
}
_ROUNDED = {"torch.arange", "torch.linspace", "torch.logspace"}
_FACTORIES = {"zeros", "ones", "empty", "full", "arange", "eye"}
_PLACED = {"pin_memory", "out", "device"}
_COPYING = {"to", "cuda", "copy_", "type_as"}
_HOST = {"on host", "memory pageable", "memory pinned"}


class BlockingUpload(Rule):
    code = "SYN302"
    name = "blocking-upload"
    summary = "a copy to the GPU without `non_blocking=True`"
    instead = "copy from pinned memory with `non_blocking=True`"
    nodes = (ast.Call,)
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

starts = (torch.from_numpy(np.arange(8)) + 1).to("cuda")  # expect: SYN302
total = torch.tensor(0, dtype=torch.int32).cuda()  # expect: SYN302
rows = torch.zeros((8, 4)).to("cuda")  # expect: SYN302
order = torch.arange(8).to(rows.device)  # expect: SYN302
others = (1 - torch.eye(8)[None]).to(rows)  # expect: SYN302
""",
            fixed="""\
import numpy as np
import torch

starts = (torch.from_numpy(np.arange(8)) + 1).pin_memory().to("cuda", non_blocking=True)
total = torch.full((), 0, dtype=torch.int32, device="cuda")
rows = torch.zeros((8, 4), device="cuda")
order = torch.arange(8, device=rows.device)
others = (1 - torch.eye(8, device=rows.device)[None]).to(rows)
""",
        ),
        Example(
            bad="""\
import torch

weight = torch.zeros(8, device="cuda")
bias = torch.zeros(8)
moved = bias.to(weight.device)  # expect: SYN302
"""
        ),
        Example(
            bad="""\
import torch

layer = torch.nn.Linear(8, 8).to("cuda")  # expect: SYN302
kept = {name: tensor.cpu() for name, tensor in layer.state_dict().items()}  # expect: SYN105
layer.load_state_dict(kept)  # expect: SYN302
"""
        ),
        Example(
            good="""\
import torch

with torch.device("cuda"):
    layer = torch.nn.Linear(8, 8)
layer.to("cuda")
kept = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
layer.load_state_dict(kept)
activation = torch.nn.ReLU().to("cuda")
pinned = torch.zeros(8, pin_memory=True)
rows = pinned.to("cuda", non_blocking=True)
rows.copy_(pinned, non_blocking=True)
half = rows.to(torch.float16)
same = rows.cuda()
host = pinned.to(torch.float16)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.UPLOAD)
        if call is None or plain_name(call, facts) in CONSTRUCTORS:
            return None
        if is_true(facts.argument(call, "non_blocking")):
            return None
        of_a_module = _OF_MODULES.get(facts.name_of(call.func))
        if of_a_module is not None:
            return of_a_module(call, facts)
        source = copied(call, facts)
        if plain_name(call, facts) not in _COPYING:
            on_host = decider(call, facts, _HOST)
            if on_host is None and _copies_inside(facts.name_of(call.func)):
                return _of_hidden_data(call, source or call, facts)
            source = on_host or source
        message = f"Copying {shown(source or _receiver(call), facts)} to the GPU blocks the CPU until the copy is done"
        values = facts.of(call), facts.of(source or call)
        because = doubted(*values) if plain_name(call, facts) in _COPYING else deciding(*reversed(values))
        rewrite = _rewrite(call, source, facts) if source else None
        return Match(call, message, because, _hint(call, source, facts), rewrite)


def _copies_inside(name: str) -> bool:
    """Return whether a function copies what belongs to it; stubs of other packages describe copies of what they are given."""
    return name.startswith("torch.") and name != "torch.load"


def _of_hidden_data(call: ast.Call, source: ast.expr, facts: Facts) -> Match:
    """Return the match of an operation without an operand on the host: it copies what belongs to it, or to an operand."""
    message = (
        f"{shown(call, facts)} copies from the host to the GPU, and blocks the CPU until the copy is done"
    )
    name = facts.name_of(call.func).rpartition(".")[2]
    hint = suggest("pack") if name.startswith("pack_") else ""
    return Match(call, message, facts.of(source), hint)


def _of_a_state(call: ast.Call, facts: Facts) -> Match:
    state = facts.argument(call, "state_dict")
    message = f"{shown(call, facts)} copies each tensor of the state from the host to the GPU, and blocks the CPU for each"
    because = facts.of(state or call)
    sure = min(because.confidence, Confidence.INFERRED)  # the module moved before
    return Match(call, message, replace(because, confidence=sure), suggest("state"))


def _of_a_module(call: ast.Call, facts: Facts) -> Match | None:
    if not is_still_new(call, facts):
        return None
    module, device = _receiver(call), facts.argument(call, "device")
    device = None if device is not None and facts.of(device).kind is Kind.NONE else device
    message = (
        f"Moving {shown(module, facts)} to the GPU blocks the CPU until each of its parameters is copied"
    )
    because = deciding(*map(facts.of, [device] if device is not None else []), facts.of(module))
    code = '"cuda"' if device is None else _device_code(device, facts)
    return Match(call, message, because, suggest("module", device=code), is_setup=True)


def _receiver(call: ast.Call) -> ast.expr:
    """Return the object that a call such as ``batch.to("cuda")`` copies, or the call itself."""
    is_copy = isinstance(call.func, ast.Attribute) and call.func.attr in _COPYING
    return call.func.value if is_copy and isinstance(call.func, ast.Attribute) else call


def _hint(call: ast.Call, source: ast.expr | None, facts: Facts) -> str:
    if facts.name_of(call.func) == "torch.load":
        return suggest("load")
    if source is None:
        return ""
    made = facts.name_of(source.func) if isinstance(source, ast.Call) else ""
    if plain_name(call, facts) not in _COPYING:
        return suggest("number-operand" if made == "torch.tensor" else "operand")
    device = facts.argument(call, "device")
    hint = _of_what_is_made(call, source, device, facts) if device is not None else ""
    if hint:
        return hint
    if isinstance(source, (ast.Name, ast.Attribute)):
        copy = CallCode(call, facts).with_argument("non_blocking", "True").text()
        return of_an_upload(call, source, facts.source(device) if device is not None else "", copy, facts)
    if isinstance(source, ast.Subscript):
        return of_a_part(call, source, facts)
    return _of_data(call, source, device, facts)


def _of_what_is_made(call: ast.Call, source: ast.expr, device: ast.expr, facts: Facts) -> str:
    """Return the suggestion for a source that a factory creates on the spot; "" for other sources."""
    made = facts.name_of(source.func) if isinstance(source, ast.Call) else ""
    if isinstance(source, ast.Call) and _is_made_alike(call, source, facts):
        return _of_a_factory(source, source, device, facts)
    is_drawn_again = isinstance(source, ast.Call) and "generator" in keywords_of(source)
    is_there = isinstance(device, (ast.Name, ast.Attribute, ast.Constant))
    if made in _RANDOM | _ROUNDED and is_there and not is_drawn_again:
        return suggest("random" if made in _RANDOM else "rounded", device=_device_code(device, facts))
    factory = _factory_behind(source, facts)
    if factory is not None and len(given(call)) == 1:
        return _of_a_factory(source, factory, device, facts)
    return ""


def _is_made_alike(call: ast.Call, source: ast.Call, facts: Facts) -> bool:
    """Return whether a factory creates the same on the GPU, if its arguments are numbers and the call only moves the result."""
    if len(given(call)) != 1:
        return False
    name = facts.name_of(source.func)
    is_factory = name.removeprefix("torch.") in _FACTORIES and not _PLACED & keywords_of(source)
    return is_factory and (name not in _ROUNDED or is_alike(source, facts))


def _factory_behind(source: ast.expr, facts: Facts) -> ast.Call | None:
    """Return the factory call at the start of a chain of methods, triangles and comparisons, as in `torch.arange(n).view(1, n)`."""
    inner: ast.expr | None = source
    while _is_of_one_tensor(inner, facts):
        inner = inner.left if isinstance(inner, (ast.BinOp, ast.Compare)) else tensor_of(inner, facts)
    name = facts.name_of(inner.func) if isinstance(inner, ast.Call) else ""
    is_chain = inner is not source and name.removeprefix("torch.") in _FACTORIES
    return inner if is_chain and isinstance(inner, ast.Call) and not _PLACED & keywords_of(inner) else None


def _is_of_one_tensor(node: ast.expr | None, facts: Facts) -> TypeGuard[ast.expr]:
    """Return whether a node computes from the tensor before it, and from numbers."""
    if isinstance(node, ast.Call):
        name = facts.name_of(node.func)
        return name.startswith("torch.Tensor.") or name in TRIANGLES
    others = [node.right] if isinstance(node, ast.BinOp) else getattr(node, "comparators", [])
    is_operation = isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp))
    return is_operation and all(facts.of(each).kind is Kind.NUMBER for each in others)


def _device_code(device: ast.expr, facts: Facts) -> str:
    """Return the code of a device, which may be given as a tensor that is there."""
    code = facts.source(device)
    return f"{code}.device" if facts.of(device).kind is Kind.TENSOR else code


def _of_a_factory(source: ast.expr, factory: ast.Call, device: ast.expr, facts: Facts) -> str:
    """Return the suggestion to create the tensor on the GPU, by the code for it if that is one line."""
    made = CallCode(factory, facts).with_argument("device", _device_code(device, facts)).text()
    made = made if source is factory else facts.edited(source, {factory: made})
    if facts.of(device).kind is Kind.TENSOR:
        made = f"{made}.to({facts.source(device)})"  # which has the dtype of the tensor, too
    return suggest("make-on-gpu") if "\n" in made else suggest("made-with-device", made=made)


def _of_data(call: ast.Call, source: ast.expr, device: ast.expr | None, facts: Facts) -> str:
    """Return the suggestion for a call that creates the source on the spot."""
    if not isinstance(source, ast.Call):
        return ""
    data = data_behind(source, facts)
    if data is not None and is_constant(data, call, facts):
        return suggest("constant", data=facts.source(data))
    if plain_name(call, facts) == "type_as" and call.args and plain_name(source, facts) in _FACTORIES:
        return suggest("like", like=facts.source(call.args[0]))
    if device is None:
        return ""
    return _of_argument(source, _device_code(device, facts), facts)


def _of_argument(source: ast.Call, device: str, facts: Facts) -> str:
    """Return the suggestion for a call that makes a tensor of its one argument."""
    if (
        len(source.args) != 1
        or isinstance(source.args[0], ast.Starred)
        or "\n" in facts.source(source.args[0])
    ):
        return ""
    made = facts.name_of(source.func)
    if made == "torch.from_numpy":
        return suggest("array", array=facts.source(source.args[0]), device=device)
    return of_data(source, source.args[0], device, facts) if made in OF_DATA else ""


def _rewrite(call: ast.Call, source: ast.expr, facts: Facts) -> Rewrite | None:
    name = plain_name(call, facts)
    if (
        name not in {"to", "cuda", "copy_"}
        or unpacks(call)
        or facts.argument(call, "non_blocking") is not None
    ):
        return None
    if name != "copy_":
        made = _made_on_gpu(call, source, facts)
        if made is not None:
            return made
    is_pinned = bool(facts.of(source).pinned)
    start = CallCode(call, facts) if is_pinned else with_pinned_source(call, source, facts)
    if start is None:
        return None
    copy = start.with_argument("non_blocking", "True").text()
    return Rewrite(call, copy, suggest("pinned" if is_pinned else "upload"), Applicability.UNSAFE)


def _made_on_gpu(call: ast.Call, source: ast.expr, facts: Facts) -> Rewrite | None:
    """Return the rewrite of `torch.zeros(n).cuda()` or `(1 - torch.eye(n)).to(x)` to create the tensor on the GPU."""
    device = _only_device(call, facts)
    made = made_on(source, device, facts) if device is not None else None
    if made is not None:
        applicability = certain(is_exact(source, facts), *map(facts.of, given(call)))
        return Rewrite(call, made, suggest("make-on-gpu"), applicability)
    device = _device_among_others(call, facts)
    made = made_on(source, device, facts) if device is not None else None
    if made is None:
        return None
    moved = CallCode(call, facts).edited(source, made).text()
    return Rewrite(call, moved, suggest("make-on-gpu"), Applicability.UNSAFE)


def _device_among_others(call: ast.Call, facts: Facts) -> DeviceCode | None:
    """Return the device of a call that has another effect too, such as `.to(x)` and `.to(device, dtype)`."""
    device = facts.argument(call, "device")
    if device is None or not isinstance(device, (ast.Name, ast.Attribute)):
        return None
    if facts.of(device).is_gpu:
        return DeviceCode(f"{facts.source(device)}.device", is_plain=True)
    return DeviceCode(facts.source(device), is_plain=True) if is_device(facts.of(device)) else None


def _only_device(call: ast.Call, facts: Facts) -> DeviceCode | None:
    """Return the device of a call whose only effect is the transfer."""
    if not given(call):
        return DeviceCode('"cuda"', is_plain=True) if plain_name(call, facts) == "cuda" else None
    device = facts.argument(call, "device")
    if device is None or len(given(call)) != 1 or plain_name(call, facts) == "cuda":
        return None
    is_plain = isinstance(device, (ast.Name, ast.Attribute, ast.Constant))
    return DeviceCode(as_argument(device, facts), is_plain) if is_device(facts.of(device)) else None


_OF_MODULES = {
    "torch.nn.Module.cuda": _of_a_module,
    "torch.nn.Module.load_state_dict": _of_a_state,
    "torch.nn.Module.to": _of_a_module,
}
