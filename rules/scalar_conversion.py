"""A conversion of a GPU tensor to a Python number, such as `int(t)`, is `.item()` in other words.

The same holds for `float`, `bool`, `complex`, `operator.index` and the functions of `math`. It holds for `torch.equal`
and `torch.allclose`, whose result is a Python truth value. The copy of the value blocks the CPU until all work queued
before has finished.

**Stays silent** on CPU tensors, on `len(t)`, `t.numel()` and shapes, which the host knows, and on `abs(t)`,
which is an operation on the GPU.

**No rewrite.** `t.int()` and `t.float()` convert on the GPU. `torch.isclose(a, b).all()` gives the answer
of `torch.allclose` as a GPU tensor, which `torch.where` or `torch._assert_async` can use there.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._instead import of_a_number
from ._parts import ATOMS, line_of
from ._shared import blocking_call, given, gpu_operand, shown, subject, unpacks
from ._suggestions import suggest

_CONVERSIONS = {
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.complex",
    "operator.index",
    "equal",
    "allclose",
    "is_nonzero",
    "torch.amp.GradScaler.get_scale",
    "torch.cuda.amp.GradScaler.get_scale",
}
# The form of each comparison that stays on the GPU.
_COMPARISONS = {"equal": "(a == b).all()", "allclose": "torch.isclose(a, b).all()"}


class ScalarConversion(Rule):
    code = "SYN103"
    name = "scalar-conversion"
    summary = "a GPU tensor is converted to a Python number"
    instead = "convert on the GPU (`t.int()`, `t.float()`), or use a number that the host already has"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import math

import torch

scores = torch.ones(8, device="cuda")
count = int(scores.sum())  # expect: SYN103
root = math.sqrt(scores[0])  # expect: SYN103
"""
        ),
        Example(
            bad="""\
import torch

weight = torch.ones(8, device="cuda")
plain = torch.allclose(weight, torch.ones_like(weight))  # expect: SYN103
"""
        ),
        Example(
            good="""\
import torch

scores = torch.ones(8, device="cuda")
count = scores.sum().int()
size = int(len(scores)) + int(scores.shape[0]) + int(scores.numel())
distance = abs(scores)
same = torch.isclose(scores, distance).all()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.SCALAR)
        if call is None:
            return None
        if not facts.name_of(call.func).startswith("math.") and not blocking_call(
            call, facts, Effect.SCALAR, _CONVERSIONS
        ):
            return None
        is_scale = facts.name_of(call.func).endswith(".get_scale")
        hint = suggest("scale") if is_scale else _of_a_comparison(call, facts)
        message = f"{shown(call, facts)} converts a CUDA tensor to a Python number, which blocks the CPU"
        return Match(
            call,
            message,
            gpu_operand(call, facts),
            hint or of_a_number(call, next(iter(given(call)), None), facts),
        )


def _of_a_comparison(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for `torch.equal` or `torch.allclose`, whose answer the GPU can keep; "" for other calls."""
    name = facts.name_of(call.func).rpartition(".")[2]
    if name not in _COMPARISONS or unpacks(call) or facts.raises(call):
        return ""
    operands = [subject(call, facts), facts.argument(call, "other")]
    texts = [line_of(operand, facts) for operand in operands]
    if not all(texts) or len(given(call)) > len(operands):
        return suggest("compare", test=_COMPARISONS[name])
    left, right = (
        text if isinstance(each, ATOMS) else f"({text})" for each, text in zip(operands, texts, strict=True)
    )
    test = f"({left} == {right}).all()" if name == "equal" else f"torch.isclose({texts[0]}, {texts[1]}).all()"
    return suggest("compare", test=test)
