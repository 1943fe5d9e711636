"""Python or torch needs a number where the code has a GPU scalar, and reads the number from the GPU.

All of these hide an `.item()`:

- slice bounds (`x[:n]`) and integer indices (`x[i]`) of tensors, sequences and lists of modules, also where an item is stored or deleted;
- `range(n)`, `[0] * n`, `names.insert(i, name)` and `names.pop(i)`;
- sizes and fill values of factories (`torch.arange(n)`, `torch.zeros(n)`, `torch.full(shape, v)`);
- `repeat(n)`, and the `alpha` of `torch.add`;
- a list of GPU scalars given to `torch.tensor` or `torch.FloatTensor`, with one read for each element;
- a mask given to `nn.TransformerEncoder` or `nn.TransformerDecoder` without `is_causal`: the layer compares it with a causal mask;
- the loss that `torch.optim.LBFGS.step` gets from its closure.

**Stays silent** on

- an index tensor with a dimension (`x[idx]`);
- `t[:3]` and `t[0]`;
- a GPU scalar in arithmetic (`x * s`), in `clamp(max=s)` and `lerp`, which read it on the GPU (`masked_fill` does not).

**Fix**: `torch.tensor([a, b], device="cuda")` of GPU scalars becomes `torch.stack([a, b]).detach()`. It is unsafe,
because the two may be on another device than the result. For the rest: `x[i.view(1)]` or
`index_select` in place of `x[i]`; a mask `torch.arange(upper_bound) < n` in place of `x[:n]`;
`x + alpha * y` in place of `torch.add(x, y, alpha=alpha)`; `v.expand(shape)` in place of
`torch.full(shape, v)`.
"""

import ast

from syncscan.model import Applicability, Device, Kind, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Precedence, Rewrite, Rule

from ._code import CallCode
from ._held import of_host_data
from ._instead import of_a_bound, of_an_index, of_lengths, of_rounds
from ._shared import PYTHON, blocking_call, decider, given, index_elements, index_parts, on_gpu, shown
from ._suggestions import suggest

_METHODS = "torch.Tensor."
_OF_PYTHON = frozenset({"builtins.range", "builtins.list.insert", "builtins.list.pop"})
_SUGGESTED = {"add", "sub", "full", "repeat"}
_FLAGS = {  # of layers that compare their mask with a causal one if the flag is not given
    "torch.nn.TransformerEncoder.forward": "is_causal",
    "torch.nn.TransformerDecoder.forward": "tgt_is_causal",
}
_SEQUENCES = {Kind.LIST, Kind.TUPLE, Kind.STRING}


class NumberFromGpu(Rule):
    code = "SYN106"
    name = "number-from-gpu"
    summary = "a GPU scalar stands where a number is needed"
    instead = "use a number that the host has, or stay on the GPU: an index tensor, a mask, `torch.stack`"
    nodes = (ast.Call, ast.Subscript, ast.BinOp)
    precedence = Precedence.FAMILY
    examples = (
        Example(
            bad="""\
import torch

rows = torch.zeros((8, 4), device="cuda")
n = torch.ones(8, dtype=torch.int64, device="cuda").sum()
head = rows[:n]  # expect: SYN106
last = rows[n - 1]  # expect: SYN106
flags = [0] * n  # expect: SYN106
for i in range(n):  # expect: SYN106
    pass
"""
        ),
        Example(
            bad="""\
import torch

lens = torch.ones(8, dtype=torch.int64, device="cuda")
positions = torch.arange(lens[0], device="cuda")  # expect: SYN106
filled = torch.full((8,), lens[0], device="cuda")  # expect: SYN106
scaled = torch.add(lens, lens, alpha=lens[0])  # expect: SYN106
"""
        ),
        Example(
            bad="""\
import torch

loss = torch.ones((), device="cuda")
norm = torch.zeros((), device="cuda")
report = torch.tensor([loss, norm], device="cuda")  # expect: SYN106
""",
            fixed="""\
import torch

loss = torch.ones((), device="cuda")
norm = torch.zeros((), device="cuda")
report = torch.stack([loss, norm]).detach()
""",
        ),
        Example(
            bad="""\
import torch
from torch import nn

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, device="cuda"), 2)
mask = torch.zeros((8, 8), device="cuda")
hidden = encoder(torch.zeros((8, 4, 16), device="cuda"), mask)  # expect: SYN106
"""
        ),
        Example(
            good="""\
import torch
from torch import nn

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, device="cuda"), 2)
mask = torch.zeros((8, 8), device="cuda")
hidden = encoder(torch.zeros((8, 4, 16), device="cuda"), mask, is_causal=False)
rows = torch.zeros((8, 4), device="cuda")
index = torch.arange(4, device="cuda")
scale = rows.sum()
picked = rows[index]
head = rows[:3] * scale
first = rows[0].clamp(max=scale)
positions = torch.arange(8, device="cuda")
both = torch.stack([scale, scale])
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if isinstance(node, ast.Subscript):
            return _match_subscript(node, facts)
        if isinstance(node, ast.BinOp):
            return _match_repetition(node, facts)
        call = blocking_call(node, facts, Effect.SCALAR)
        if call is None:
            return None
        full = facts.name_of(call.func)
        if full.startswith(PYTHON) and full not in _OF_PYTHON:
            return None
        name = full.rpartition(".")[2]
        number = decider(call, facts, {"on gpu", "holds gpu"})
        if number is None:
            message = f"{shown(call, facts)} reads a number from the GPU, which blocks the CPU"
            return Match(call, message, hint=suggest("lbfgs") if full == "torch.optim.LBFGS.step" else "")
        if full in _FLAGS:
            message = f"Comparing {shown(number, facts)} with a causal mask blocks the CPU: `{_FLAGS[full]}` is not given"
            return Match(call, message, facts.of(number), suggest("causal", flag=_FLAGS[full]))
        number = _element(number, facts)
        written = name if full.startswith(_METHODS) else full.removeprefix("builtins.")
        message = (
            f"Reading {shown(number, facts)} from the GPU blocks the CPU: `{written}` needs a Python number"
        )
        because = on_gpu(facts.of(number)) or facts.of(number)
        hint = _of_a_call(name, number, call, facts)
        return Match(call, message, because, hint, _stack_instead(call, facts))


def _match_subscript(node: ast.Subscript, facts: Facts) -> Match | None:
    case = facts.blocks(node)
    if case is None or case.effect is not Effect.SCALAR:
        return None
    bounds = [bound for part in index_parts(node) for bound in _bounds(part)]
    for number in (*index_elements(node), *bounds):
        value = facts.of(number)
        if value.is_gpu or value.device is Device.CUDA:  # where it may be any part of a batch
            role = "slice bound" if number in bounds else "index"
            message = f"Reading the {role} {shown(number, facts)} from the GPU blocks the CPU: the {role} must be a Python number"
            return Match(node, message, value, _instead(number, node, facts, is_bound=number in bounds))
    return Match(node, f"{shown(node, facts)} reads its index from the GPU, which blocks the CPU")


def _kinds_in(value: Value) -> frozenset[Kind]:
    """Return the kinds of the elements of a list."""
    inside = value.items if value.items is not None else (value.element,)
    return frozenset([each.kind for each in inside if each is not None])


def _of_a_call(name: str, number: ast.expr, call: ast.Call, facts: Facts) -> str:
    if name in {"tensor", "as_tensor", "new_tensor"} or name.endswith("Tensor"):
        rows = _kinds_in(facts.of(call.args[0])) if call.args else frozenset()
        return suggest("stack") if rows.isdisjoint(_SEQUENCES) else ""
    if name in _SUGGESTED:
        return suggest(name)
    held = of_host_data(number, call, facts)
    if held:
        return held
    if facts.in_loop(call) and not facts.made_in_loop(number):
        return of_rounds(call, number, facts)
    return of_lengths(number, call, facts) or suggest("size")


def _instead(number: ast.expr, node: ast.Subscript, facts: Facts, *, is_bound: bool) -> str:
    held = of_host_data(number, node, facts)
    if held:
        return held
    if facts.in_loop(node) and not facts.made_in_loop(number):
        return of_rounds(node, number, facts)
    is_of_tensor = facts.of(node.value).kind not in _SEQUENCES | {Kind.INSTANCE}
    return of_a_bound(number, node, facts) if is_bound and is_of_tensor else of_an_index(node, number, facts)


def _match_repetition(node: ast.BinOp, facts: Facts) -> Match | None:
    """Return the match of `[0] * n`, which repeats a sequence; a fraction repeats none."""
    if not isinstance(node.op, ast.Mult):
        return None
    pairs = ((node.left, node.right), (node.right, node.left))
    for repeated, times in pairs:
        count = facts.of(times)
        if facts.of(repeated).kind in _SEQUENCES and count.is_gpu and count.dtype != "float":
            message = f"Reading {shown(times, facts)} from the GPU blocks the CPU: repeating {shown(repeated, facts)} needs a number"
            return Match(node, message, because=count)
    return None


def _element(number: ast.expr, facts: Facts) -> ast.expr:
    """Return the element of a literal tuple or list that may be on the GPU, or the number itself."""
    if not isinstance(number, (ast.Tuple, ast.List)):
        return number
    inside = [each.value if isinstance(each, ast.Starred) else each for each in number.elts]
    may_be = [each for each in inside if any(option.is_gpu for option in facts.of(each).options)]
    return next(iter(may_be), number)


def _bounds(part: ast.expr) -> list[ast.expr]:
    if not isinstance(part, ast.Slice):
        return []
    return [bound for bound in (part.lower, part.upper, part.step) if bound is not None]


def _stack_instead(call: ast.Call, facts: Facts) -> Rewrite | None:
    if facts.name_of(call.func) != "torch.tensor" or not isinstance(call.func, ast.Attribute):
        return None
    device = facts.argument(call, "device")
    if device is None or len(given(call)) != 2 or not call.args or not isinstance(call.args[0], ast.List):
        return None
    items = [facts.of(each.value if isinstance(each, ast.Starred) else each) for each in call.args[0].elts]
    if not all(item.is_gpu and item.ndim == 0 for item in items):
        return None
    stack = CallCode(call, facts).renamed("stack").without_last()
    if not all(item.dtype in {"int", "bool", "uint8"} for item in items):
        stack = f"{stack}.detach()"  # `torch.tensor` carries no gradient on
    return Rewrite(call, stack, suggest("stack"), Applicability.UNSAFE)
