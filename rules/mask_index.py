"""Indexing with a boolean GPU mask has to count the mask first, and the count blocks the CPU.

The shape of `x[mask]` is a number that only the GPU knows; torch finds the number with `nonzero`. An assignment
`x[mask] = values` does the same when the values are a tensor, even of no dimensions.

**Stays silent** on

- `x[mask] = 0.0`, which is a `masked_fill_` and does not count;
- a mask in host memory, which is counted there and uploaded without blocking;
- an index tensor of integers.

**No rewrite**, since the result has another shape. `torch.where(mask, a, b)` keeps the shape.
`x.index_select(0, rows)` with rows that the host computed once replaces a mask that is used often.
With a CPU copy of the mask the read does not block. Sums over a mask are `(x * mask).sum()`.
"""

import ast
from dataclasses import replace
from typing import TypeGuard

from syncscan.model import Confidence, Kind, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._loop_reads import of_groups
from ._shared import as_operand, index_elements, index_parts, shown
from ._suggestions import suggest


class MaskIndex(Rule):
    code = "SYN201"
    name = "mask-index"
    summary = "indexing with a boolean mask on the GPU"
    instead = "use `torch.where`, `index_select` with rows that the host knows, or a mask in host memory"
    nodes = (ast.Subscript,)
    examples = (
        Example(
            bad="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8, device="cuda") > 0.5
kept = rows[mask]  # expect: SYN201
others = rows[~mask]  # expect: SYN201
"""
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
mask = torch.zeros(8, dtype=torch.bool, device="cuda")
head = table[mask, :2]  # expect: SYN201
rows = torch.zeros(8, device="cuda")
rows[mask] = rows.sum()  # expect: SYN201
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8, device="cuda") > 0.5
rows[mask] = 0.0
kept = torch.where(mask, rows, 0.0)
picked = rows[torch.arange(4, device="cuda")]
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros(8, device="cuda")
mask = torch.ones(8) > 0.5
kept = rows[mask]
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if not isinstance(node, ast.Subscript):
            return None
        case = facts.blocks(node)
        if case is None or case.effect is not Effect.SHAPE:
            return None
        elements = index_elements(node)
        masks = [each for each in elements if facts.of(each).is_mask]
        masks = masks or [each for each in elements if _is_named_mask(facts.of(each))]
        mask = masks[0] if masks else node
        how = f"Indexing with the CUDA mask {shown(mask, facts)}" if masks else shown(node, facts)
        message = f"{how} blocks the CPU until the GPU has counted the true elements"
        because = _beside(facts.of(mask), facts.of(node.value))
        return Match(node, message, because, _hint(node, mask, facts), is_implicit=True)


def _is_named_mask(value: Value) -> bool:
    """Return whether a tensor in the index of a case that depends on data is its mask: only the name says so."""
    return value.kind is Kind.TENSOR and value.dtype is None and value.ndim != 0


def _beside(mask: Value, indexed: Value) -> Value:
    """Return the mask; where only a convention or an annotation places the mask, return an indexed tensor that code places."""
    if _is_named_mask(mask):
        mask = replace(mask, confidence=min(mask.confidence, Confidence.INFERRED))
    if mask.confidence < Confidence.INFERRED <= indexed.confidence and indexed.is_gpu:
        return replace(indexed, confidence=Confidence.INFERRED)
    return mask


_SUMS = {"sum", "mean"}
_ELEMENTWISE = frozenset(
    {"exp", "log", "sqrt", "rsqrt", "abs", "neg", "sigmoid", "tanh", "relu", "square", "reciprocal", "sin", "cos", "clamp",
     "pow", "float", "add", "sub", "mul", "div"}
)  # fmt: skip
_ADDED: dict[type[ast.operator], str] = {ast.Add: "+=", ast.Sub: "-="}


def _hint(node: ast.Subscript, mask: ast.AST, facts: Facts) -> str:
    """Return the suggestion for the store or the sum around the index; "" where only the general one fits."""
    tensor, picked = facts.source(node.value), facts.source(mask)
    if mask is node:
        return ""
    missing = _missing_dims(node, mask, facts)
    if len(index_parts(node)) != 1 or missing is None:
        return ""
    hint = _of_a_statement(node, facts.statement(node), picked, missing, facts)
    around, is_read = facts.parent(node), isinstance(node.ctx, ast.Load)
    if not hint and not missing and isinstance(around, ast.Attribute) and around.attr in _SUMS:
        return suggest("masked-sum", tensor=tensor, picked=picked, mask=as_operand(mask, facts))
    if not hint and not missing and is_read:
        hint = _of_a_read(node, mask, facts)
    return hint or (of_groups(mask, node, facts) if is_read else "")


def _of_a_read(node: ast.Subscript, mask: ast.AST, facts: Facts) -> str:
    """Return the suggestion for the elements that a mask selects, by the other elements in the statement."""
    tensor, picked, around = facts.source(node.value), facts.source(mask), facts.parent(node)
    others = {
        facts.source(each.value)
        for each in ast.walk(facts.statement(node))
        if _is_picked(each, picked, facts)
    }
    if isinstance(around, (ast.BinOp, ast.UnaryOp)) and len(others) > 1:
        return suggest("masked-all", tensor=tensor, mask=picked)
    return ""


def _missing_dims(node: ast.Subscript, mask: ast.AST, facts: Facts) -> int | None:
    """Return how many dimensions a mask has less than the tensor, 0 where that is not known; None for an impossible number."""
    dims, known = facts.of(node.value).ndim, facts.of(mask).ndim
    missing = dims - known if dims is not None and known is not None else 0
    return missing if missing >= 0 else None


def _of_a_statement(node: ast.Subscript, statement: ast.AST, mask: str, missing: int, facts: Facts) -> str:
    """Return the suggestion for a store through a mask, or for what such a store reads through the mask; "" for others."""
    target = _target(statement)
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not _is_picked(target, mask, facts):
        return ""
    picked = [each for each in ast.walk(statement.value) if _is_picked(each, mask, facts)]
    if node is not target and node not in picked:
        return ""
    wide = _widened(mask, target.slice, missing)
    if isinstance(statement, ast.AugAssign):
        return "" if picked else _of_a_change(statement, target.value, wide, facts)
    if picked:
        return _of_a_result(statement.value, target.value, picked, wide, facts)
    return _of_a_value(statement.value, target, wide, missing, facts)


def _of_a_change(statement: ast.AugAssign, stored: ast.expr, mask: str, facts: Facts) -> str:
    operator = _ADDED.get(type(statement.op), "")
    if not operator or facts.of(statement.value).ndim != 0:
        return ""
    tensor, value = facts.source(stored), facts.source(statement.value)
    return suggest("masked-change", tensor=tensor, operator=operator, mask=mask, value=value)


def _of_a_result(
    value: ast.expr, stored: ast.expr, picked: list[ast.Subscript], mask: str, facts: Facts
) -> str:
    if not _is_elementwise(value, picked, facts):
        return ""
    edits: dict[ast.AST, str] = {each: facts.source(each.value) for each in picked}
    row = "masked-where" if picked[0] is value else "masked-result"
    return suggest(row, tensor=facts.source(stored), mask=mask, value=facts.edited(value, edits))


def _of_a_value(value: ast.expr, target: ast.Subscript, mask: str, missing: int, facts: Facts) -> str:
    dims, tensor, text = facts.of(value).ndim, facts.source(target.value), facts.source(value)
    if missing and dims != 0:
        return (
            suggest("masked-where", tensor=tensor, mask=mask, value=text) if dims and dims <= missing else ""
        )
    if dims != 0 and None in {facts.of(target.value).ndim, facts.of(target.slice).ndim}:
        return ""  # the mask of rows fits no `masked_scatter_`
    return suggest("masked-where" if dims == 0 else "masked-scatter", tensor=tensor, mask=mask, value=text)


def _is_elementwise(value: ast.expr, picked: list[ast.Subscript], facts: Facts) -> bool:
    """Return whether each element of a value is computed from the elements at its place and from numbers alone."""
    if value in picked or isinstance(value, ast.Constant):
        return True
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        sides = [value.operand] if isinstance(value, ast.UnaryOp) else [value.left, value.right]
        return all(_is_elementwise(each, picked, facts) for each in sides)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = (
            []
            if isinstance(value.func.value, ast.Name) and value.func.value.id == "torch"
            else [value.func.value]
        )
        is_known = value.func.attr in _ELEMENTWISE and not value.keywords
        return is_known and all(_is_elementwise(each, picked, facts) for each in (*owner, *value.args))
    return facts.of(value).kind is Kind.NUMBER or facts.of(value).ndim == 0


def _target(statement: ast.AST) -> ast.expr | None:
    """Return the first target of an assignment, else None."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) else None


def _is_picked(node: ast.AST | None, mask: str, facts: Facts) -> TypeGuard[ast.Subscript]:
    return isinstance(node, ast.Subscript) and facts.source(node.slice) == mask


def _widened(mask: str, node: ast.expr, missing: int) -> str:
    """Return a mask with dimensions of size 1 at its end, so that the mask fits the tensor."""
    if not missing:
        return mask
    text = mask if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({mask})"
    return f"{text}[..., {', '.join(['None'] * missing)}]"
