"""Python needs the truth value of a GPU tensor, and reading the value blocks the CPU.

`if t:`, `while t:`, `assert t`, `not t`, `t and u` and `in` all call `bool()` on the tensor. So do a conditional expression,
a chained comparison, the condition of a comprehension, and the guard of a `case`. So do Python's own `min`, `max`,
`sorted`, `list.sort`, `any`, `all` and `filter`, once for each comparison or element. The tensor may also come from a `key`, from a filter's function, or
from an object's `__lt__`.

**Stays silent** on

- `t is None` and `len(t)`;
- tensors in host memory;
- `torch.max`, `t.any()` and their like, whose result stays on the GPU until someone asks.

**No rewrite**, since control flow would have to become data flow:

- `torch.where(condition, a, b)` for a choice;
- `clamp` or `masked_fill` for a bound;
- `torch._assert_async(t)` for an assertion;
- a flag that the host computed from its own data, for a branch;
- `torch.maximum` and `torch.stack(...).amax()` for Python's `max`.
"""

import ast
from collections.abc import Sequence

from syncscan.model import UNKNOWN, Confidence, Kind, Value, is_zero
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule
from syncscan.syntax.use import last_set

from ._held import of_host_data
from ._instead import of_a_test
from ._parts import calls_in, last_name, names_in
from ._shared import as_operand, blocking_call, gpu_operand, on_gpu, shown
from ._suggestions import suggest

_REDUCTIONS = frozenset({"all", "amax", "amin", "any", "max", "mean", "min", "norm", "sum"})
_PYTHON = {
    **dict.fromkeys(("min", "max", "sorted", "list.sort"), "compares"),
    **dict.fromkeys(("any", "all", "filter"), "tests"),
}


class ImplicitTruth(Rule):
    code = "SYN104"
    name = "implicit-truth"
    summary = "an implicit `bool()` of a GPU tensor"
    instead = (
        "decide on the GPU (`torch.where`, `clamp`, `masked_fill`), or branch on a value that the host has"
    )
    nodes = (
        ast.If,
        ast.While,
        ast.Assert,
        ast.IfExp,
        ast.comprehension,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Call,
    )
    examples = (
        Example(
            bad="""\
import torch

norm = torch.ones(8, device="cuda").norm()
if norm > 1.0:  # expect: SYN104
    norm = norm / 2
assert torch.isfinite(norm)  # expect: SYN104
"""
        ),
        Example(
            bad="""\
import torch

mask = torch.zeros(8, dtype=torch.bool, device="cuda")
enabled = True
rows = 1 if enabled and mask.any() else 0  # expect: SYN104
empty = not mask.any()  # expect: SYN104
kept = enabled and mask.all()
known = 5 in torch.arange(8, device="cuda")  # expect: SYN104
"""
        ),
        Example(
            bad="""\
import torch

a = torch.ones((), device="cuda")
b = torch.zeros((), device="cuda")
largest = max(a, b)  # expect: SYN104
some = any([a, b])  # expect: SYN104
"""
        ),
        Example(
            good="""\
import torch

norm = torch.ones(8, device="cuda").norm()
norm = torch.where(norm > 1.0, norm / 2, norm)
if norm is not None and len(norm.shape) == 0:
    norm = norm.clamp(max=1.0)
largest = torch.maximum(norm, torch.zeros_like(norm))
torch._assert_async(torch.isfinite(norm))
"""
        ),
        Example(
            good="""\
import torch

lens = torch.ones(8)
if lens.max() > 4 and not lens.any():
    lens = lens[:4]
total = sum([torch.ones((), device="cuda"), torch.zeros((), device="cuda")])
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | Sequence[Match] | None:
        if isinstance(node, ast.Call) and not _asks_for_truth(node, facts):
            return _match_call(node, facts)
        if isinstance(node, ast.Compare):
            return _match_comparison(node, facts)
        matches = (_match_test(_last_operand(tested), facts) for tested in _tested(node))
        return [match for match in matches if match is not None]


def _match_test(tested: ast.expr | None, facts: Facts) -> Match | None:
    value = facts.of(tested) if tested is not None else UNKNOWN
    if tested is None or not (value.is_gpu or _becomes_gpu(tested, value) or _is_of_a_sum(tested, facts)):
        return None
    if value.confidence <= Confidence.INFERRED and _is_a_flag(tested, facts):
        return None
    message = f"Implicit `bool({shown(tested, facts)[1:-1]})` on a CUDA tensor blocks the CPU"
    hint = of_a_test(tested, facts)
    return Match(tested, message, value, hint, is_implicit=_is_of_a_reduction(tested, facts))


def _is_of_a_reduction(tested: ast.expr, facts: Facts) -> bool:
    """Return whether a test asks a reduction of tensors, and no single element, as loops over tensors in host memory do."""
    names = (last_set(name, tested, facts.around(tested)) for name in names_in(tested))
    return any(last_name(call.func) in _REDUCTIONS for each in (tested, *names) for call in calls_in(each))


def _match_comparison(node: ast.Compare, facts: Facts) -> Match | None:
    operand = _compared(node, facts)
    if operand is None:
        return None
    message = f"Implicit `bool({shown(node, facts)[1:-1]})` on a comparison of CUDA tensors blocks the CPU"
    return Match(node, message, facts.of(operand), of_a_test(node, facts))


def _becomes_gpu(node: ast.expr, value: Value) -> bool:
    """Return whether a flag that starts as `False` or `True`, or a function's result, is a GPU tensor on some path.

    A tensor of several elements does not arrive here: its truth raises.
    """
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
        return False
    tensors = [option for option in value.options if option.kind is not Kind.NUMBER or option.dtype != "bool"]
    return bool(tensors) and all(option.is_gpu and _may_have_a_truth(option) for option in tensors)


def _is_of_a_sum(node: ast.expr, facts: Facts) -> bool:
    """Return whether an expression compares a GPU tensor that was a zero before."""
    if not isinstance(node, ast.Compare) or not any(option.is_gpu for option in facts.of(node).options):
        return False
    compared = [facts.of(each) for each in (node.left, *node.comparators)]
    return any(value.is_gpu and any(map(is_zero, value.items or ())) for value in compared)


def _may_have_a_truth(value: Value) -> bool:
    """Return whether a tensor has no dimensions or one element, or may have."""
    return not value.ndim or value.count == 1


def _match_call(call: ast.Call, facts: Facts) -> Match | None:
    if blocking_call(call, facts, Effect.SCALAR, {f"builtins.{name}" for name in _PYTHON}) is None:
        return None
    name = facts.name_of(call.func).removeprefix("builtins.")
    message = f"Python's `{name}` {_PYTHON[name]} CUDA tensors one by one, and each answer blocks the CPU"
    asked = gpu_operand(call, facts) or on_gpu(facts.operand(call, "input"))
    return Match(call, message, asked, _of_one_tensor(name, call, facts) or suggest(name))


def _of_one_tensor(name: str, call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for a function of one tensor, or for `min` and `max` of one tensor and one number."""
    is_plain = name != "sorted" and len(call.args) == 1 and not call.keywords
    one = facts.of(call.args[0]) if is_plain else None
    if one is not None and one.is_gpu and one.kind is Kind.TENSOR:
        return of_host_data(call.args[0], call, facts) or suggest(
            f"{name}-of-one", tensor=as_operand(call.args[0], facts)
        )
    pairs = [call.args, call.args[::-1]] if name in {"min", "max"} and len(call.args) == 2 else []
    for tensor, number in pairs:
        if facts.of(tensor).is_gpu and facts.of(number).kind is Kind.NUMBER:
            return suggest(f"{name}-number", tensor=as_operand(tensor, facts), number=facts.source(number))
    return ""


def _tested(node: ast.AST) -> list[ast.expr]:
    """Return the expressions whose truth this node itself tests."""
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return node.ifs
    if isinstance(node, ast.Call):
        return node.args
    if isinstance(node, ast.BoolOp):
        return [] if _has_a_text(node) else node.values[:-1]
    return [node.operand] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []


def _asks_for_truth(call: ast.Call, facts: Facts) -> bool:
    """Return whether a call is `bool(x is not None and t)`; of a tensor alone, `scalar-conversion` reports the call."""
    is_test = (
        len(call.args) == 1 and isinstance(call.args[0], ast.BoolOp) and not facts.of(call.args[0]).is_gpu
    )
    return is_test and isinstance(call.func, ast.Name) and call.func.id == "bool"


def _has_a_text(node: ast.BoolOp) -> bool:
    """Return whether a text is the default, ``name or "none"``: no tensor stands for a text, though an answer may choose one."""
    *asked, default = node.values
    is_text = isinstance(default, ast.Constant) and isinstance(default.value, str)
    return isinstance(node.op, ast.Or) and is_text and not any(map(_answers, asked))


def _answers(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.Call) and last_name(node.func) in _REDUCTIONS
    )


def _is_a_flag(tested: ast.expr, facts: Facts) -> bool:
    """Return whether a dictionary holds what is tested, and a truth value or a text as the default says that it is no tensor."""
    made = last_set(tested.id, tested, facts.around(tested)) if isinstance(tested, ast.Name) else tested
    if not isinstance(made, ast.Call) or last_name(made.func) not in {"get", "pop"} or len(made.args) <= 1:
        return False
    default = made.args[1]
    return isinstance(default, ast.Constant) and isinstance(default.value, (bool, str))


def _last_operand(node: ast.expr) -> ast.expr | None:
    """Return the operand that decides in the end; None for a node that tests its operands itself.

    `and`, `or` and `not` are nodes that test their operands: an `if` over them tests only the last operand, and each place
    is reported once.
    """
    while isinstance(node, ast.BoolOp):
        node = node.values[-1]
    return None if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else node


def _compared(node: ast.Compare, facts: Facts) -> ast.expr | None:
    """Return the GPU tensor in a comparison whose truth Python needs: of `in`, or of a chain before its end."""
    left = node.left
    for index, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if isinstance(operator, (ast.In, ast.NotIn)):
            operands = [right, left] if _looks_into(right, left, facts) else []
        else:
            last = index == len(node.ops) - 1
            operands = [] if last or isinstance(operator, (ast.Is, ast.IsNot)) else [left, right]
        for operand in operands:
            if facts.of(operand).is_gpu:
                return operand
        left = right
    return None


def _looks_into(container: ast.expr, element: ast.expr, facts: Facts) -> bool:
    """Return whether `in` compares an element with tensors: texts and None equal no tensor."""
    kinds = {Kind.LIST, Kind.TUPLE, Kind.TENSOR}
    others = container.elts if isinstance(container, (ast.List, ast.Tuple)) else [container]
    is_of_none = all(isinstance(each, ast.Constant) and each.value is None for each in others)
    return facts.of(container).kind in kinds and facts.of(element).kind is not Kind.STRING and not is_of_none
