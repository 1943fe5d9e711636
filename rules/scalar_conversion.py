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
from syncscan.syntax.use import Role, use_of

from ._decisions import of_an_assertion
from ._instead import of_a_number
from ._shared import blocking_call, given, gpu_operand, shown
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
_COMPARISONS = frozenset({"equal", "allclose"})


class ScalarConversion(Rule):
    code = "SYN103"
    name = "scalar-conversion"
    summary = "a GPU tensor is converted to a Python number"
    instead = "stay on the GPU (`t.int()`, `torch.where`), or use a number that the host already has"
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
        name = facts.name_of(call.func)
        hint = suggest("scale") if name.endswith(".get_scale") else _of_a_number(call, facts)
        is_comparison = name.rpartition(".")[2] in _COMPARISONS
        effect = (
            "compares CUDA tensors and returns a Python truth value"
            if is_comparison
            else "converts a CUDA tensor to a Python number"
        )
        message = f"{shown(call, facts)} {effect}, which blocks the CPU"
        return Match(call, message, gpu_operand(call, facts), hint, is_implicit=is_comparison)


def _of_a_number(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for a conversion, by the use of the number; a comparison of tensors may only be asserted."""
    name = facts.name_of(call.func).rpartition(".")[2]
    if name in _COMPARISONS and facts.raises(call):
        hint = of_an_assertion(call, facts)
        is_asserted = name == "allclose" and isinstance(facts.statement(call), ast.Assert)
        return suggest("asserted-close") if hint and is_asserted else hint
    if name in _COMPARISONS:
        is_tested = use_of(call, facts.around(call)).role is Role.TEST
        return suggest("comparison-test" if is_tested else "comparison")
    return of_a_number(call, next(iter(given(call)), None), facts)
